// The time, the memory and the connections that clients can take from the HTTP server. Tests set smaller limits.

export const defaultLimits = {
  /** From the first byte of a request, or from the opening of the connection, to the end of the headers. */
  headersTimeoutMs: 10_000,
  /** From the same moment to the end of the body. A body that was refused is read for this long too. */
  requestTimeoutMs: 30_000,
  timeoutCheckMs: 5_000,
  /**
   * A connection on which nothing moves while a request is in flight is closed. This is longer than `requestTimeoutMs`
   * and two checks, so that a client that falls silent in its body is answered 408.
   */
  stallTimeoutMs: 45_000,
  /** How long a client may take to read a whole response, however steadily it reads. */
  responseTimeoutMs: 30_000,
  /** How long a client may take to read the last response after the server has closed its side. */
  lingerMs: 1_000,
  /** How much of a refused body is read and dropped before the connection is closed: 16 MiB. */
  maxDrainedBytes: 16_777_216,
  /** How many connections one client address may hold. Further ones are closed at once. 0 means no limit. */
  maxConnectionsPerAddress: 1_000,
  /**
   * Requests of all connections that may wait for the end of their response. From this number on, each further request is
   * answered, and is the last one of its connection.
   */
  maxOutstandingRequests: 2_000,
};

export type ServerLimits = Readonly<typeof defaultLimits>;
