// Checks that nobody can read the connections to PostgreSQL and Redis, by their addresses as pg and ioredis read them.
import { isLoopback, type RedisConfig } from "@petstore/core";
import { type Finding, ok, warning } from "./finding.js";

/** pg checks the certificate and the name in each of these modes; like libpq, in the last one alone. */
const verifyingModes = ["prefer", "require", "verify-ca", "verify-full"];

export function checkDatabaseTransport(variable: string, address: string): Finding {
  const check = `${variable} transport`;
  const url = new URL(address);
  const mode = url.searchParams.get("sslmode") ?? "";
  const isLikeLibpq = url.searchParams.get("uselibpqcompat") === "true";
  if (isLoopback(url.hostname)) return ok(check, "stays on this machine");
  if (isLikeLibpq ? mode === "verify-full" : verifyingModes.includes(mode)) return ok(check, `TLS to ${url.host}`);
  const found =
    mode === "no-verify" || (isLikeLibpq && mode !== "")
      ? `TLS to ${url.host}, whose certificate is not checked`
      : `no TLS to ${url.host}: everybody on the way reads the password and every row`;
  return warning(
    check,
    found,
    `Add sslmode=verify-full to ${variable}; NODE_EXTRA_CA_CERTS names the file of a private certificate authority.`,
  );
}

/** One finding for each thing that is wrong with an address, or one for an address that is well protected. */
export function checkRedisTransport({ urls }: RedisConfig): Finding[] {
  return urls.flatMap((address) => {
    const url = new URL(address);
    const check = `redis ${url.host} protection`;
    if (isLoopback(url.hostname)) return [ok(check, "stays on this machine")];
    const findings: Finding[] = [];
    if (url.protocol !== "rediss:") {
      const found = "no TLS: everybody on the way reads the password and every counter";
      findings.push(warning(check, found, "Let REDIS_URL begin with rediss://, and Redis listen with TLS."));
    }
    if (url.password === "") {
      const found = "no password: everybody who reaches it can change every counter and ban";
      findings.push(warning(check, found, "Set requirepass, or an ACL user, and name it in REDIS_URL."));
    }
    return findings.length === 0 ? [ok(check, "TLS and a password")] : findings;
  });
}
