/**
 * Whether the address says, with `pgbouncer=true`, that a PgBouncer in transaction mode answers there. Two transactions
 * may then meet two sessions: nothing is prepared by name, nothing set for a session, and nobody listens.
 */
export function isTransactionPooler(url: string): boolean {
  return URL.canParse(url) && new URL(url).searchParams.get("pgbouncer") === "true";
}
