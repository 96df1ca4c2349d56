// Sends the requests of the checks, and counts what they cost.
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { type CommandContext, Refusal } from "../../command-context.js";
import { guideLink } from "../guide-sections.js";
import { describeReceived, exchange, NoResponse, type Received } from "./exchange.js";

export type ApiName = "REST" | "GraphQL";

/** Where the two APIs are. */
export interface Target {
  /** Without a path. */
  readonly rest: URL;
  /** The whole address of the GraphQL API. */
  readonly graphql: URL;
}

export interface StoreRequest {
  /** A path of the origin of the API, or the path of the GraphQL API itself if it is absent. */
  readonly path?: string;
  readonly api: ApiName;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** A request without the key is counted by the address of this machine. */
  readonly charge: "one unit" | "free" | "without key";
}

export interface StoreResponse extends Received {
  /** The X-Request-Id that was sent. */
  readonly sentId: string;
}

export interface StoreClient extends Disposable {
  readonly target: Target;
  readonly key: string;
  readonly timeoutMs: number;
  readonly now: () => number;
  /** Random hexadecimal digits. */
  random(bytes: number): string;
  /** Throws a refusal if no response arrives, or if the store cannot serve the account now. */
  send(request: StoreRequest): Promise<StoreResponse>;
  /** How many units of the account the requests have used. */
  unitsUsed(): number;
}

/** A browser application of another origin, so that responses have the CORS headers. */
const origin = "https://doctor.example";

export function openStoreClient(
  target: Target,
  key: string,
  timeoutMs: number,
  { now, randomBytes }: CommandContext,
): StoreClient {
  const agents = { "http:": new HttpAgent({ keepAlive: true }), "https:": new HttpsAgent({ keepAlive: true }) };
  let units = 0;
  return {
    target,
    key,
    timeoutMs,
    now,
    random: (bytes) => randomBytes(bytes).toString("hex"),
    async send({ path, api, method = "GET", headers, body, charge }) {
      const base = api === "REST" ? target.rest : target.graphql;
      const url = path === undefined ? base : new URL(path, base);
      const sentId = `doctor-${randomBytes(8).toString("hex")}`;
      const sent = {
        Accept: "application/json",
        "User-Agent": "petstore-doctor",
        Origin: origin,
        "X-Request-Id": sentId,
        ...(charge !== "without key" && { Authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      };
      const agent = agents[url.protocol as keyof typeof agents];
      const options = { url, method, headers: sent, timeoutMs, agent, now, ...(body !== undefined && { body }) };
      if (charge === "one unit") units += 1;
      const received = await exchange(options).catch((error: unknown) => {
        throw new NoResponse(url, error, timeoutMs);
      });
      if (charge !== "without key") refuseUnserved(received, charge);
      return { ...received, sentId };
    },
    unitsUsed: () => units,
    [Symbol.dispose]() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** A proxy, and not the store, has answered with an error of the server. */
export class ProxyError extends Refusal {
  readonly received: Received;

  constructor(received: Received) {
    super(adviseRepair(received));
    this.received = received;
  }
}

/** No other check means anything then. It also ends the checks before refusals could become strikes. */
function refuseUnserved(received: Received, charge: "one unit" | "free"): void {
  const { request, status, code } = received;
  if (status === 429 && charge === "one unit") {
    throw new Refusal(
      `${request} got ${describeReceived(received)}: other programs use this account. Try again later.`,
    );
  }
  if (status >= 500) throw code === undefined ? new ProxyError(received) : new Refusal(adviseRepair(received));
}

function adviseRepair(received: Received): string {
  return `${received.request} got ${describeReceived(received)}: repair that first, see ${guideLink("the-balancer")}.`;
}
