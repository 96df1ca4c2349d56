import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** True if connections to `host` stay on this machine. `host` is from a URL or a listening address. `""` is a Unix socket. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  const version = isIP(address);
  if (version === 0) return address === "" || address === "localhost";
  return loopback.check(address, version === 4 ? "ipv4" : "ipv6");
}
