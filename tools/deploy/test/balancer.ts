// HAProxy with the configuration of compose.yaml.
import { fileURLToPath } from "node:url";
import { choosePort } from "@petstore/embedded-postgres";
import { startProgram } from "@petstore/harness/processes";

export const configurationFile: string = fileURLToPath(new URL("../haproxy.cfg", import.meta.url));

export interface Balancer extends AsyncDisposable {
  readonly origin: string;
  /** The port on which it terminates TLS, when it has a certificate. */
  readonly tlsPort: number;
}

export interface BalancerOptions {
  readonly dnsPort: number;
  /** The port of every service. Each service has an address of its own. */
  readonly servicePort: number;
  /** A file with a certificate and its private key. */
  readonly tlsCertificate?: string;
}

export async function startBalancer({ dnsPort, servicePort, tlsCertificate }: BalancerOptions): Promise<Balancer> {
  const port = await choosePort(undefined);
  const tlsPort = await choosePort(undefined);
  const program = startProgram({
    name: "HAProxy",
    command: "haproxy",
    args: ["-db", "-q", "-f", configurationFile],
    environment: {
      PATH: process.env.PATH,
      DNS_ADDRESS: `127.0.0.1:${dnsPort}`,
      SERVICE_PORT: `${servicePort}`,
      BALANCER_PORT: `${port}`,
      ...(tlsCertificate !== undefined && { TLS_CERTIFICATE: tlsCertificate, TLS_PORT: `${tlsPort}` }),
    },
  });
  const origin = `http://127.0.0.1:${port}`;
  // Any answer is enough: no service may be reachable yet.
  await program.until(async () => (await fetch(origin).catch(() => undefined)) !== undefined);
  return { origin, tlsPort, [Symbol.asyncDispose]: program[Symbol.asyncDispose] };
}
