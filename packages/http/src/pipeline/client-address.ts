import { isIP, isIPv4 } from "node:net";
import type { Request } from "express";
import ipaddr from "ipaddr.js";

const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * The name of the anonymous bucket that counts a request. IPv4 is exact. IPv6 is its /64: a subscriber is given one, and
 * could rotate through its addresses. An IPv4 address inside an IPv6 address counts as itself, both mapped (RFC 4291) and
 * translated by NAT64 (64:ff9b::/96, RFC 6052), because all IPv4 clients of a NAT64 share one /64.
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
  const address = req.ip;
  return address !== undefined && isIP(address) !== 0 ? address : req.socket.remoteAddress;
}
