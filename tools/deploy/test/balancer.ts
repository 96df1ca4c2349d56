// HAProxy with the configuration of compose.yaml.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { choosePort } from "@petstore/embedded-postgres";
import { until } from "./image.js";

export const configurationFile: string = fileURLToPath(new URL("../haproxy.cfg", import.meta.url));

export interface Balancer extends AsyncDisposable {
  readonly origin: string;
  /** The port on which it terminates TLS, when it has a certificate. */
  readonly tlsPort: number;
}

export interface BalancerPlace {
  readonly dnsPort: number;
  /** Where the services listen, each on an address of its own. */
  readonly servicePort: number;
  /** A file with a certificate and its private key. */
  readonly tlsCertificate?: string;
}

export async function startBalancer({ dnsPort, servicePort, tlsCertificate }: BalancerPlace): Promise<Balancer> {
  const port = await choosePort(undefined);
  const tlsPort = await choosePort(undefined);
  const child = spawn("haproxy", ["-db", "-q", "-f", configurationFile], {
    env: {
      PATH: process.env.PATH,
      DNS_ADDRESS: `127.0.0.1:${dnsPort}`,
      SERVICE_PORT: `${servicePort}`,
      BALANCER_PORT: `${port}`,
      ...(tlsCertificate !== undefined && { TLS_CERTIFICATE: tlsCertificate, TLS_PORT: `${tlsPort}` }),
    },
    stdio: "ignore",
  });
  const ended = once(child, "close");
  const orphan = () => child.kill("SIGKILL");
  process.once("exit", orphan);
  const origin = `http://127.0.0.1:${port}`;
  const balancer = {
    origin,
    tlsPort,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
      process.off("exit", orphan);
    },
  };
  // Whatever it answers: the services may be nowhere yet.
  if (await until(async () => (await fetch(origin).catch(() => undefined)) !== undefined)) return balancer;
  await balancer[Symbol.asyncDispose]();
  throw new Error("HAProxy did not start in time");
}
