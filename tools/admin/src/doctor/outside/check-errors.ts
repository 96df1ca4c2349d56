// Whether errors reach the client as the services send them, and not as pages of a proxy.
import type { KeyScope } from "@petstore/core";
import { type Finding, fault, ok, skipped } from "../finding.js";
import { describeReceived, NoResponse, type Received } from "./exchange.js";
import { type ApiName, ProxyError, type StoreClient, type StoreRequest } from "./store-client.js";

interface ExpectedError {
  readonly request: StoreRequest;
  readonly status: number;
  readonly code: string;
  /** A header of this error, with a text in it. */
  readonly header?: readonly [name: string, text: string];
}

const errorAdvice = "Let the proxy pass on this status with its headers and its body, and send no page of its own.";

export async function checkErrors(client: StoreClient, scope: KeyScope): Promise<readonly Finding[]> {
  return [
    await checkError(client, "401", errorAdvice, withoutKey),
    await checkError(client, "404", errorAdvice, [unknownPath]),
    await checkError(client, "405", "Let the proxy pass on every method, and the header Allow.", unknownMethod),
    await checkError(client, "413", "Let the proxy accept bodies of 2 MiB: the services refuse those above 64 KiB.", [
      largeBody("REST", scope),
      largeBody("GraphQL", scope),
    ]),
  ];
}

const withoutKey: readonly ExpectedError[] = [
  { api: "REST", path: "/v1/pets" } as const,
  { api: "GraphQL", method: "POST", body: "{}" } as const,
].map((request) => ({
  request: { ...request, charge: "without key" },
  status: 401,
  code: "API_KEY_MISSING",
  header: ["WWW-Authenticate", "petstore"],
}));

/** Of an API that the balancer does not know: it goes to the REST API. */
const unknownPath: ExpectedError = {
  request: { api: "REST", path: "/v1/no-such-path", charge: "one unit" },
  status: 404,
  code: "ROUTE_NOT_FOUND",
};

/** PATCH without a body changes nothing, even if the address is wrong and another service has it. */
const unknownMethod: readonly ExpectedError[] = [
  { api: "REST", path: "/v1/pets" } as const,
  { api: "GraphQL" } as const,
].map((request) => ({
  request: { ...request, method: "PATCH", charge: "one unit" },
  status: 405,
  code: "METHOD_NOT_ALLOWED",
  header: ["Allow", "POST"],
}));

/** More than the 1 MiB from which many proxies refuse a body by default. */
const largeBodyBytes = 1_200_000;

function largeBody(api: ApiName, scope: KeyScope): ExpectedError {
  const request: StoreRequest = {
    api,
    ...(api === "REST" && { path: "/v1/pets" }),
    method: "POST",
    body: Buffer.alloc(largeBodyBytes, " "),
    charge: "one unit",
  };
  // The REST API refuses a key that may not create before it looks at the body.
  if (api === "REST" && scope === "read") return { request, status: 403, code: "INSUFFICIENT_SCOPE" };
  return { request, status: 413, code: "PAYLOAD_TOO_LARGE" };
}

async function checkError(
  client: StoreClient,
  status: string,
  advice: string,
  expected: readonly ExpectedError[],
): Promise<Finding> {
  const check = `error ${status}`;
  const faults: string[] = [];
  for (const one of expected) {
    const received = await sendOrExplain(client, one.request);
    if (received instanceof NoResponse) {
      faults.push(`${one.request.api}: ${received.message}`);
      continue;
    }
    if (one.request.charge === "without key" && received.code === "RATE_LIMIT_EXCEEDED") {
      return skipped(check, "this address has used up its requests without a key: try again in a minute");
    }
    const difference = differenceOf(received, one);
    if (difference !== undefined) faults.push(`${received.request} ${difference}`);
  }
  if (faults.length === 0) return ok(check, "comes from the services");
  return fault(check, faults.join("; "), advice, "what-a-proxy-must-pass-on");
}

/** A proxy may close the connection, for example of a large body, or answer 501 to a method that it does not know. */
async function sendOrExplain(client: StoreClient, request: StoreRequest): Promise<Received | NoResponse> {
  try {
    return await client.send(request);
  } catch (error) {
    if (error instanceof NoResponse) return error;
    if (error instanceof ProxyError) return error.received;
    throw error;
  }
}

function differenceOf(received: Received, { status, code, header }: ExpectedError): string | undefined {
  if (received.status !== status || received.code !== code) {
    return `got ${describeReceived(received)} and not ${status} ${code}`;
  }
  const [name = "", text = ""] = header ?? [];
  if (name === "" || received.headers[name.toLowerCase()]?.includes(text)) return undefined;
  return `got ${status} without the header ${name} of the service`;
}
