import { isIP } from "node:net";
import { type Config, type HttpConfig, isLoopback, readConfig } from "@petstore/core";
import { dataDirectory } from "@petstore/embedded-postgres";

export interface StoreConfig extends Config {
  readonly directory: string;
  /** How long the store may take to stop, with the grace period in which it still takes requests. */
  readonly stopTimeoutMs: number;
  readonly warning: string | undefined;
}

/** Without a grace period the store ends within 5 seconds of Ctrl-C. */
const stopTimeoutMs = 4_500;

/** `database.url` is known only when PostgreSQL runs. PUBLIC_URL defaults to the address of the store, if it is known. */
export function readStoreConfig(environment: NodeJS.ProcessEnv, userId: number | undefined): StoreConfig {
  const embedded = {
    DATABASE_URL: "postgres://embedded",
    DATABASE_URL_FILE: "",
    DATABASE_DIRECT_URL: "",
    DATABASE_DIRECT_URL_FILE: "",
  };
  const config = readConfig({ ...environment, ...embedded, TEST_STORE: environment.TEST_STORE || "true" });
  return {
    ...config,
    http: { ...config.http, publicUrl: config.http.publicUrl ?? ownUrl(config.http) },
    directory: dataDirectory(environment.PETSTORE_DIR),
    stopTimeoutMs: stopTimeoutMs + config.http.shutdownGraceMs,
    warning: checkUser(userId, config.http),
  };
}

/** Undefined if the port is not chosen yet, or if other machines can connect, because they may use another address. */
function ownUrl({ host, port }: HttpConfig): string | undefined {
  if (port === 0 || !isLoopback(host)) return undefined;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Returns the warning for root, or undefined for any other user. Throws if root would serve other machines. */
function checkUser(userId: number | undefined, { host, metricsHost }: HttpConfig): string | undefined {
  if (userId !== 0) return undefined;
  for (const [name, address] of Object.entries({ HOST: host, METRICS_HOST: metricsHost })) {
    if (isLoopback(address)) continue;
    if (isIP(address) === 0)
      throw new Error(`${name}=${address} is no address. For root, it must be 127.0.0.1 or ::1.`);
    throw new Error(
      `The pet store does not listen on ${address} as root: start it with ${name}=127.0.0.1, ` +
        `or as another user, such as su USER -c '${name}=${address} npm start'.`,
    );
  }
  return "Warning: the pet store runs as root and needs no rights: start it as another user.";
}
