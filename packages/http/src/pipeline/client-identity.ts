import type { IncomingMessage } from "node:http";
import { isIP, isIPv4 } from "node:net";
import { Problem } from "@petstore/core";
import type { Request } from "express";
import ipaddr from "ipaddr.js";

/** The bearer token (RFC 6750 section 2.1). Two headers are refused, because a proxy may have checked the other one. */
export function bearerToken(req: IncomingMessage): string | Problem {
  const [header, another] = req.headersDistinct.authorization ?? [];
  if (header === undefined) return new Problem("API_KEY_MISSING");
  if (another !== undefined) {
    return new Problem("API_KEY_INVALID", "Exactly one Authorization header must be sent.");
  }
  const match = /^bearer(?: +(.*))?$/i.exec(header);
  if (match === null) return new Problem("API_KEY_MISSING", "The Authorization header must use the Bearer scheme.");
  return match[1] ? match[1] : new Problem("API_KEY_MISSING");
}

const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * The name under which the address quota counts an address. An IPv4 address has a bucket of its own. IPv6 addresses share
 * the bucket of their /64 prefix, because a subscriber gets a whole /64. An IPv4-mapped address (RFC 4291) and a NAT64
 * address (64:ff9b::/96, RFC 6052) use the bucket of their IPv4 address, because all IPv4 clients of a NAT64 share one /64.
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

/**
 * The address that sent the request. `req.ip` follows X-Forwarded-For through trusted proxies only, and none is trusted
 * unless configured. When a trusted proxy passed on something that is no address, the address of the proxy counts.
 */
export function clientAddress(req: Request): string | undefined {
  const address = req.headers["x-forwarded-for"] === undefined ? undefined : req.ip;
  return address !== undefined && isIP(address) !== 0 ? address : req.socket.remoteAddress;
}
