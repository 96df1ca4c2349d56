/** The part of pino's logger that the domain uses: a service passes its own logger. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** True if the text may contain an API key. Do not log or trace such a text of a client, or repeat it in a message. */
export function containsKey(text: string): boolean {
  return /pets_(live|test)_/i.test(text);
}
