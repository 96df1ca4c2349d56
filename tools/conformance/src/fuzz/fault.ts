/** What must not happen, by the name it is counted under. */
export const oracles = {
  "5xx": "answered with a status of 500 or above",
  "no answer": "not answered whole within 15 s",
  headers: "without X-Request-Id or one of X-RateLimit-Limit, -Remaining, -Reset",
  undocumented: "a status, code, header or body the OpenAPI document, or GraphQL over HTTP, does not have",
  leak: "a key, SQL, a stack or a path in an answer",
  verdict: "the APIs, or an API and the OpenAPI document, differ on what is accepted or why it is refused",
  pet: "a pet that is not stored or listed as it was sent",
  lost: "an accepted pet that does not read back digit for digit and byte for byte",
  died: "a process that ended",
} as const;

export type Oracle = keyof typeof oracles;

export interface Fault {
  readonly oracle: Oracle;
  readonly reason: string;
}
