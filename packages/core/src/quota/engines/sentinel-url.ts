/** The addresses of the sentinels of a Redis, and the login to the Redis that they name. */
export interface SentinelUrl {
  readonly sentinels: readonly SentinelAddress[];
  /** The name that the sentinels have for the Redis: `sentinel monitor <name> ...`. */
  readonly name: string;
  readonly username: string;
  readonly password: string;
  /** For the connections to the sentinels and to the Redis. */
  readonly isTls: boolean;
}

export interface SentinelAddress {
  readonly host: string;
  readonly port: number;
}

/** Why a URL cannot be used. It completes "REDIS_URL ...", and shows no part of the URL. */
export interface SentinelUrlFault {
  readonly fault: string;
}

const scheme = /^(rediss?)\+sentinel:\/\//;
const defaultPort = 26_379;
const form = "redis+sentinel://host:26379,host:26379,host:26379/name";

export function isSentinelUrl(text: string): boolean {
  return scheme.test(text);
}

/** Reads `redis+sentinel://user:password@host:port,host:port/name`. `URL` cannot: it allows one host. */
export function readSentinelUrl(text: string): SentinelUrl | SentinelUrlFault {
  const [prefix = "", protocol] = scheme.exec(text) ?? [];
  // A password may contain an `@`, as in a URL of one host.
  const [, , login = "", hosts = "", name = ""] = /^((.*)@)?([^/@]*)(?:\/(.*))?$/.exec(text.slice(prefix.length)) ?? [];
  const addresses = hosts.split(",").map(readAddress);
  const credentials = readLogin(login);
  const group = decode(name);
  if (addresses.includes("no host")) return { fault: `must name a host for each sentinel: ${form}` };
  if (addresses.includes("no port")) return { fault: "must give each sentinel a port from 1 to 65535" };
  if (credentials === undefined) return { fault: "must percent-encode the user and the password" };
  if (group === undefined || !/^[\w.-]+$/.test(group)) {
    return { fault: `must name the Redis as the sentinels do, after the last of them: ${form}` };
  }
  const sentinels = addresses.filter((address) => typeof address === "object");
  const different = new Set(sentinels.map(({ host, port }) => `${host.toLowerCase()} ${port}`));
  if (different.size < sentinels.length) return { fault: "must name each sentinel once" };
  return { sentinels, name: group, ...credentials, isTls: protocol === "rediss" };
}

function readAddress(text: string): SentinelAddress | "no host" | "no port" {
  const [, ipv6, host = ipv6 ?? "", port] = /^(?:\[([\da-fA-F:.]+)\]|([^\s:[\]?#]+))(?::(.*))?$/.exec(text) ?? [];
  if (host === "") return "no host";
  if (port === undefined) return { host, port: defaultPort };
  const isPort = /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
  return isPort ? { host, port: Number(port) } : "no port";
}

function readLogin(login: string): { username: string; password: string } | undefined {
  const separator = login.includes(":") ? login.indexOf(":") : login.length;
  const [username, password] = [decode(login.slice(0, separator)), decode(login.slice(separator + 1))];
  return username === undefined || password === undefined ? undefined : { username, password };
}

/** Undefined for text that is not percent-encoded correctly. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // The caller reports it.
    return undefined;
  }
}
