export const defaultLimits = {
  /** From the first byte of a request, or from the opening of the connection, to the end of the headers. */
  headersTimeoutMs: 10_000,
  /** From the same start as `headersTimeoutMs` to the end of the body, also of a refused body. */
  requestTimeoutMs: 30_000,
  timeoutCheckMs: 5_000,
  /** No traffic for this time during a request. Longer than `requestTimeoutMs` plus two checks, so that 408 comes first. */
  stallTimeoutMs: 45_000,
  /** Time for a client to read a whole response, even if it reads steadily. */
  responseTimeoutMs: 30_000,
  /** Time for a client to read the last response after the server has stopped sending. */
  lingerMs: 1_000,
  /** 16 MiB, chunk headers included. If the rest of a refused body is longer, the connection is closed. */
  maxDrainedBytes: 16_777_216,
  /** Further connections are closed at once. 0 means no limit. */
  maxConnectionsPerAddress: 1_000,
  /**
   * With this many unanswered requests in the process, the second one of a connection is its last. Only clients that pipeline
   * have a second one.
   */
  maxOutstandingRequests: 1_000,
};

export type ServerLimits = Readonly<typeof defaultLimits>;
