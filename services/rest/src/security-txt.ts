import type { HttpConfig } from "@petstore/core";

/** security.txt (RFC 9116) with the contact of the operator. Undefined without one: the project has no contact for an installation. */
export function securityTxt(
  { securityContact, publicUrl }: Pick<HttpConfig, "securityContact" | "publicUrl">,
  startedAtMs: number,
): string | undefined {
  if (securityContact === undefined) return undefined;
  const fields = [`Contact: ${securityContact}`, `Expires: ${expiryOf(startedAtMs)}`, "Preferred-Languages: en"];
  if (publicUrl?.startsWith("https:")) fields.push(`Canonical: ${publicUrl}/.well-known/security.txt`);
  return `${fields.join("\n")}\n`;
}

/**
 * The first day of this month in the next year, so that instances that start in the same month send the same file. RFC 9116
 * section 2.5.5 recommends less than a year.
 */
function expiryOf(startedAtMs: number): string {
  const started = new Date(startedAtMs);
  const expiryMs = Date.UTC(started.getUTCFullYear() + 1, started.getUTCMonth(), 1);
  return new Date(expiryMs).toISOString().replace(".000Z", "Z");
}
