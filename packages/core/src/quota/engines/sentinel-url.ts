export interface SentinelUrl {
  readonly sentinels: readonly SentinelAddress[];
  /** The name of the Redis in the configuration of the sentinels: `sentinel monitor <name> ...`. */
  readonly name: string;
  /** The login to the Redis. */
  readonly username: string;
  readonly password: string;
  /** For the connections to the sentinels and to the Redis. */
  readonly isTls: boolean;
}

export interface SentinelAddress {
  readonly host: string;
  readonly port: number;
}

const form = /^(rediss?)\+sentinel:\/\/(?:([^/?#]*)@)?([^/?#@,]+(?:,[^/?#@,]+)*)\/([\w.-]+)$/;

/** Reads `redis+sentinel://user:password@host:port,host:port/name`. `URL` cannot: it allows one host. */
export function readSentinelUrl(text: string): SentinelUrl | undefined {
  const [, protocol, login = "", hosts = "", name = ""] = form.exec(text) ?? [];
  if (protocol === undefined) return undefined;
  try {
    const { username, password } = new URL(`redis://${login}@host`);
    return {
      sentinels: hosts.split(",").map(readAddress),
      name,
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
      isTls: protocol === "rediss",
    };
  } catch {
    // `URL` and `decodeURIComponent` throw for a malformed address or login.
    return undefined;
  }
}

function readAddress(text: string): SentinelAddress {
  const { hostname, port } = new URL(`redis://${text}`);
  return { host: hostname.replace(/[[\]]/g, ""), port: Number(port || 26_379) };
}
