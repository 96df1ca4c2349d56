import { type HttpConfig, isLoopback } from "@petstore/core";

/** Undefined where the user may run the store; else the warning to print. Throws where root would serve other machines. */
export function checkUser(
  userId: number | undefined,
  { host, metricsHost }: Pick<HttpConfig, "host" | "metricsHost">,
): string | undefined {
  if (userId !== 0) return undefined;
  for (const [name, address] of Object.entries({ HOST: host, METRICS_HOST: metricsHost })) {
    if (isLoopback(address)) continue;
    throw new Error(
      `The pet store does not listen on ${address} as root: start it as another user, or leave ${name} out.`,
    );
  }
  return "Warning: the pet store runs as root and needs no rights: start it as another user.";
}
