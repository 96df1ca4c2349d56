/** Reads the bearer token of a message, and finds the address of its client. */
import { isIP, isIPv4 } from "node:net";
import { copyText, Problem } from "@petstore/core";
import type { Express, Request } from "express";
import ipaddr from "ipaddr.js";
import { repeated, type SingleHeader } from "./single-headers.js";

/** The bearer token (RFC 6750 section 2.1), or the problem of a request without one. */
export function bearerToken(authorization: SingleHeader): string | Problem {
  if (authorization === undefined) return new Problem("API_KEY_MISSING");
  if (authorization === repeated) {
    return new Problem("API_KEY_INVALID", "Exactly one Authorization header must be sent.");
  }
  const match = /^bearer(?: +(.*))?$/i.exec(authorization);
  if (match === null) return new Problem("API_KEY_MISSING", "The Authorization header must use the Bearer scheme.");
  return match[1] ? match[1] : new Problem("API_KEY_MISSING");
}

const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * The bucket that counts an address. IPv6 addresses with the same /64 prefix share a bucket, because a subscriber gets a
 * whole /64. An IPv4-mapped address (RFC 4291) and a NAT64 address (64:ff9b::/96, RFC 6052) use the bucket of their IPv4
 * address. Otherwise all IPv4 clients of a NAT64 would share one bucket.
 */
export function addressBucket(address: string | undefined): string {
  if (address === undefined || isIP(address) === 0) return "address:unknown";
  if (isIPv4(address)) return `address:${address}`;
  // A zone (RFC 4007) names an interface of this host. It may contain characters that ipaddr.js refuses, such as "-".
  const withoutZone = address.replace(/%.*/s, "");
  if (!ipaddr.isValid(withoutZone)) return "address:unknown";
  const parsed = ipaddr.process(withoutZone);
  if (parsed instanceof ipaddr.IPv4) return `address:${parsed.toString()}`;
  if (parsed.match(nat64)) return `address:${new ipaddr.IPv4(parsed.toByteArray().slice(12)).toString()}`;
  return `address:${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}

/** Makes Express read the headers `X-Forwarded-*` of these proxies, and of no others. */
export function trustProxies(app: Express, trustedProxies: readonly string[]): void {
  if (trustedProxies.length === 0) return;
  app.set("trust proxy", [...trustedProxies]);
  const isTrusted: (address: string, hop: number) => boolean = app.get("trust proxy fn");
  // Behind several proxies, the addresses of all but the last one come from X-Forwarded-For too.
  app.set("trust proxy", (address: string, hop: number) => isTrusted(plainAddress(address), hop));
}

/**
 * An entry of X-Forwarded-For without port and brackets, which Azure Application Gateway and IIS add: `198.51.100.9:51234`,
 * `[2001:db8::1]:443`, `[2001:db8::1]`.
 */
function plainAddress(entry: string): string {
  const [, ipv6, ipv4] = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/s.exec(entry) ?? [];
  return ipv6 ?? ipv4 ?? entry;
}

/** Reads X-Forwarded-For from trusted proxies only (`req.ip`). If it holds no address, returns the address of the proxy. */
export function clientAddress(req: Request): string | undefined {
  const address = req.headers["x-forwarded-for"] === undefined ? undefined : plainAddress(req.ip ?? "");
  return address !== undefined && isIP(address) !== 0 ? copyText(address) : req.socket.remoteAddress;
}
