// Checks that nobody can read the connections to PostgreSQL and Redis, by their addresses as pg and ioredis read them.
import type { ConnectionOptions } from "node:tls";
import { isLoopback, type RedisConfig, readSentinelUrl } from "@petstore/core";
import { Client } from "pg";
import { type Finding, ok, warning } from "./finding.js";

export function checkDatabaseTransport(variable: string, address: string): Finding {
  const check = `${variable} transport`;
  const { host, port, ssl } = new Client(address) as unknown as PgTransport;
  const server = `${host}:${port}`;
  if (isLoopback(host) || host.startsWith("/")) return ok(check, "stays on this machine");
  const { rejectUnauthorized = true, checkServerIdentity } = Object(ssl);
  if (ssl !== false && rejectUnauthorized && checkServerIdentity === undefined) return ok(check, `TLS to ${server}`);
  const found =
    ssl === false
      ? `no TLS to ${server}: everybody on the way reads the password and every row`
      : `TLS to ${server}, whose certificate is not checked`;
  const authority = "NODE_EXTRA_CA_CERTS names the file of a private certificate authority";
  return warning(check, found, `Add sslmode=verify-full to ${variable}; ${authority}.`);
}

/** The fields of a client of pg, for which its types are incomplete. */
interface PgTransport {
  /** Begins with a slash if it is the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly ssl: boolean | ConnectionOptions;
}

/** One finding for each thing that is wrong with an address, or one for an address that is well protected. */
export function checkRedisTransport({ urls, sentinelPassword = "" }: RedisConfig): Finding[] {
  return urls.flatMap((address) => {
    const sentinel = readSentinelUrl(address);
    if (sentinel === undefined) {
      const { host, hostname, protocol, password } = new URL(address);
      const isTls = protocol === "rediss:";
      return checkProtection(`redis ${host}`, { hostname, isTls, password }, redisWords);
    }
    const { sentinels, name, isTls, password } = sentinel;
    // The servers may be on other machines than the sentinels. Both are local only in a test.
    const [{ host: hostname } = { host: "" }] = sentinels.filter(({ host }) => !isLoopback(host)).concat(sentinels);
    return [
      ...checkProtection(`redis ${name}`, { hostname, isTls, password }, { ...redisWords, tls: sentinelWords.tls }),
      ...checkProtection("sentinels", { hostname, isTls, password: sentinelPassword }, sentinelWords),
    ];
  });
}

const redisWords = {
  withoutTls: "no TLS: everybody on the way reads the password and every counter",
  tls: "Let REDIS_URL begin with rediss://, and Redis listen with TLS.",
  withoutPassword: "no password: everybody who reaches it can change every counter and ban",
  password: "Set requirepass, or an ACL user, and name it in REDIS_URL.",
};

const sentinelWords: typeof redisWords = {
  withoutTls: "no TLS: everybody on the way can name another primary",
  tls: "Let REDIS_URL begin with rediss+sentinel://, and Redis and the sentinels listen with TLS.",
  withoutPassword: "no password: everybody who reaches them can name another primary",
  password: "Set requirepass in every sentinel.conf, and REDIS_SENTINEL_PASSWORD.",
};

function checkProtection(
  name: string,
  { hostname, isTls, password }: { readonly hostname: string; readonly isTls: boolean; readonly password: string },
  words: typeof redisWords,
): Finding[] {
  const check = `${name} protection`;
  if (isLoopback(hostname)) return [ok(check, "stays on this machine")];
  const findings: Finding[] = [];
  if (!isTls) findings.push(warning(check, words.withoutTls, words.tls));
  if (password === "") findings.push(warning(check, words.withoutPassword, words.password));
  return findings.length === 0 ? [ok(check, "TLS and a password")] : findings;
}
