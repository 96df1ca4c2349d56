/** A request and its response, for the log, the metrics and the traces. */
export interface CompletedRequest {
  readonly id: string;
  /** The trace of the client, or of this service if it records traces. */
  readonly traceId: string | undefined;
  readonly clientAddress: string | undefined;
  readonly method: string;
  readonly scheme: "http" | "https";
  /** A template such as `/v1/pets`, or a name such as `static`. Never the path, which can hold any text of a client. */
  readonly route: string;
  /** Absent if the client closed the connection before a response. */
  readonly status: number | undefined;
  readonly durationMs: number;
  /** The client closed the connection before the whole response was sent. */
  readonly isAborted: boolean;
  readonly operation: GraphqlOperation | undefined;
  /** The record of the API key, also of a revoked or expired one. */
  readonly key: { readonly id: bigint; readonly accountId: bigint } | undefined;
  readonly problemCode: string | undefined;
  /** Refused to rehearse the removal of the operation. */
  readonly isBrownout: boolean;
}

export interface GraphqlOperation {
  readonly type: "query" | "mutation" | "subscription";
  /** Safe to log. Absent if the operation has no name, or if its name contains an API key. */
  readonly name: string | undefined;
  /** In units of the quota. Absent if the operation was refused before its cost was known. */
  readonly cost: number | undefined;
}

/** nginx's status for a client that closed the connection before a response. */
export const clientClosedRequest = 499;
