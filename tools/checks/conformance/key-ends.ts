/** When the keys of the contract table end, or have ended. */
export const keyEnds = {
  ending: daysFromNow(20),
  /** 30 days are left when the first request is sent, or some seconds less. */
  "ending in 30 days": daysFromNow(30),
  "ending in 31 days": daysFromNow(31),
  expired: new Date("2026-01-31T12:00:00Z"),
  revoked: new Date("2026-02-28T12:00:00Z"),
} as const;

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * 86_400_000);
}
