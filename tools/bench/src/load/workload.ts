import { randomBytes, randomUUID } from "node:crypto";
import { mintApiKey, petStatuses } from "@petstore/core";
import { type ApiRequests, type HttpRequest, type Operation, withKey } from "./requests.js";

/** Random requests: a part by its share, then one of its operations, then the key of an account. */
export interface Workload {
  readonly parts: readonly WorkloadPart[];
  /** Empty for a server without keys, and where the requests have their keys already. */
  readonly apiKeys: readonly string[];
}

export interface WorkloadPart {
  /** Relative to the shares of the other parts. */
  readonly share: number;
  readonly operations: readonly Operation[];
}

/** The headline: lists, and 10 % creates, a tenth of them with an idempotency key. */
export function mixed(requests: ApiRequests): WorkloadPart[] {
  return [
    { share: 90, operations: everyList(requests) },
    { share: 9, operations: [requests.create] },
    { share: 1, operations: [requests.createOnce] },
  ];
}

export function lists(requests: ApiRequests): WorkloadPart[] {
  return [{ share: 1, operations: everyList(requests) }];
}

export function creates(requests: ApiRequests): WorkloadPart[] {
  return [{ share: 1, operations: [requests.create] }];
}

export function hotPage(requests: ApiRequests): WorkloadPart[] {
  return [{ share: 1, operations: [requests.list(20, "available")] }];
}

/** From 10 to 30 pets: requests for the same list at once could share one query. */
export const listLimits: readonly number[] = Array.from({ length: 21 }, (_, index) => 10 + index);

function everyList({ list }: ApiRequests): Operation[] {
  return listLimits.flatMap((limit) => [undefined, ...petStatuses].map((status) => list(limit, status)));
}

/** Returns a function that draws the next operation, with its placeholders filled in. */
export function createDraw({ parts, apiKeys }: Workload): () => Operation {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(Math.random() * items.length)];
  const total = parts.reduce((sum, { share }) => sum + share, 0);
  // Most operations have no placeholder, and the load shares the machine with the servers.
  const operations = parts.flatMap((part) => part.operations);
  const dynamic = new Set(operations.filter(({ request }) => /\{(unique|newKey)\}/.test(JSON.stringify(request))));
  return () => {
    let place = Math.random() * total;
    const part = parts.find(({ share }) => {
      place -= share;
      return place < 0;
    });
    const operation = pick(part?.operations ?? []);
    if (operation === undefined) throw new Error("a workload has parts with operations");
    const request = dynamic.has(operation) ? fillIn(operation.request, uniqueText()) : operation.request;
    const apiKey = pick(apiKeys);
    return { ...operation, request: apiKey === undefined ? request : withKey(request, apiKey) };
  };
}

function uniqueText(): string {
  return randomUUID().replaceAll("-", "");
}

/** Writes the text into its places. */
export function fillIn(request: HttpRequest, unique: string): HttpRequest {
  const fill = (text: string) =>
    text.replaceAll("{unique}", unique).replaceAll("{newKey}", () => mintApiKey("live", randomBytes));
  const { headers, body } = request;
  return {
    ...request,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
    ...(body !== undefined && { body: fill(body) }),
  };
}
