/** What the domain needs of a log: pino's shape, so that a service hands its own logger in. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
