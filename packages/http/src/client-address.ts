import { isIP } from "node:net";
import type { Request } from "express";
import ipaddr from "ipaddr.js";

/**
 * The name of the anonymous bucket a request is counted in. IPv4 is exact; IPv6 is its /64, which is what one
 * subscriber is given and could otherwise rotate through; an IPv4 address mapped into IPv6 is that IPv4 address.
 */
export function addressBucket(address: string | undefined): string {
  if (address === undefined || isIP(address) === 0) return "address:unknown";
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return `address:${parsed.toString()}`;
  return `address:${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}

/**
 * The address the request came from. `req.ip` walks X-Forwarded-For through the trusted proxies only, and none is
 * trusted unless configured; where a trusted proxy passed something that is no address on, the proxy itself counts.
 */
export function clientAddress(req: Request): string | undefined {
  const address = req.ip;
  return address !== undefined && isIP(address) !== 0 ? address : req.socket.remoteAddress;
}
