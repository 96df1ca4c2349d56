/** An answer as it was received. */
export interface WholeAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Where the next one begins. */
  readonly end: number;
}

const headEnd = "\r\n\r\n";

/** `undefined` while the answer that begins there is not whole. Every answer of the store tells its length. */
export function wholeAnswerIn(received: Buffer, start: number): WholeAnswer | undefined {
  const bodyStart = received.indexOf(headEnd, start) + headEnd.length;
  if (bodyStart < headEnd.length) return undefined;
  const [statusLine = "", ...lines] = received.toString("latin1", start, bodyStart - headEnd.length).split("\r\n");
  const fields = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const headers = Object.fromEntries(fields);
  const end = bodyStart + Number(headers["content-length"] ?? 0);
  if (received.length < end) return undefined;
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  return { status, fields, headers, text: received.toString("utf8", bodyStart, end), end };
}
