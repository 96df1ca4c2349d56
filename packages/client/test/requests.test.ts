// tools/checks/conformance/contract sends lists, creates and gets to a running service, with every digit of an int64.
import { getEventListeners } from "node:events";
import { type CreateOptions, createPetStoreClient, type NewPet, type PetStoreClientOptions } from "@petstore/client";
import { expect, it, vi } from "vitest";
import { createScriptedService, problem, respond, resultsAfter, rexJson, useVirtualTime } from "./scripted-service.js";

useVirtualTime();

const rex = { name: "Rex", categoryId: 1 };
const abortReason = new Error("changed my mind");

it("iterates over all pages with one request each, and fetches no page early", async () => {
  const { client, received } = createScriptedService((_request, index) => {
    const link = `</v1/pets?limit=100&cursor=C${index + 1}>; rel="next"`;
    return respond(200, `[${rexJson},${rexJson}]`, { headers: index < 2 ? { Link: link } : {} });
  });
  const requestsBeforePet: number[] = [];
  const readAll = async () => {
    for await (const _pet of client.pets.all({ status: "available" })) requestsBeforePet.push(received.length);
  };
  expect(await resultsAfter(1_000, readAll())).toEqual(["succeeded"]);
  expect(requestsBeforePet).toEqual([1, 1, 2, 2, 3, 3]);
  expect(received.map(({ url }) => url.split("?")[1])).toEqual([
    "limit=100&status=available",
    "limit=100&status=available&cursor=C1",
    "limit=100&status=available&cursor=C2",
  ]);
});

it("rejects a page that names itself as the next page, so that a loop over all pages ends", async () => {
  const headers = { Link: '</v1/pets?cursor=C1>; rel="next"' };
  const { client, received } = createScriptedService(() => respond(200, "[]", { headers }));
  const readAll = async () => {
    for await (const _page of client.pets.pages());
  };
  expect(await resultsAfter(1_000, readAll())).toMatchObject([{ code: "UNEXPECTED_RESPONSE" }]);
  expect(received).toHaveLength(2);
});

it.each<[what: string, given: CreateOptions & Partial<NewPet>, error: Error]>([
  ["a number that is already rounded", { categoryId: 2 ** 53 }, expect.any(RangeError)],
  ["an idempotency key with a line break", { idempotencyKey: "a\nb" }, expect.any(TypeError)],
  ["an idempotency key outside Latin-1", { idempotencyKey: "\u{1f436}" }, expect.any(TypeError)],
  ["a signal that is already aborted", { signal: AbortSignal.abort(abortReason) }, abortReason],
])("rejects a create with %s, and sends no request", async (_what, given, expected) => {
  const { client, received } = createScriptedService(() => respond(201, rexJson));
  expect(await resultsAfter(1_000, client.pets.create({ ...rex, ...given }, given))).toEqual([expected]);
  expect(received).toEqual([]);
});

it("sends a new Idempotency-Key with each create, or the key of the caller", async () => {
  const { client, received } = createScriptedService(() => respond(201, rexJson));
  const calls = [{}, {}, { idempotencyKey: "order 7" }].map((options) => client.pets.create(rex, options));
  await resultsAfter(1_000, ...calls);
  const keys = received.map(({ headers }) => headers.get("idempotency-key"));
  const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(keys).toEqual([uuid, uuid, "order 7"]);
  expect(keys[0]).not.toBe(keys[1]);
});

it("aborts a request in flight, and starts the next one", async () => {
  const { client, received } = createScriptedService(
    (_request, index) => (index === 0 ? new Promise<never>(() => undefined) : respond(200, "[]")),
    { maxConcurrent: 1 },
  );
  const abort = new AbortController();
  const calls = [client.pets.list({ signal: abort.signal }), client.pets.list()];
  setTimeout(() => abort.abort(abortReason), 1_000);
  expect(await resultsAfter(1_100, ...calls)).toEqual([abortReason, "succeeded"]);
  expect(received[0]?.signal.aborted).toBe(true);
  expect(received[1]?.atMs).toBeGreaterThanOrEqual(1_000);
});

it("rejects an aborted call that waits for its retry", async () => {
  const { client, received } = createScriptedService(() => problem(500, "INTERNAL_ERROR"), { random: () => 0.999 });
  const abort = new AbortController();
  const creating = client.pets.create(rex, { signal: abort.signal });
  setTimeout(() => abort.abort(abortReason), 500);
  expect(await resultsAfter(500, creating)).toEqual([abortReason]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(received).toHaveLength(1);
});

it("leaves no listener on the signal of a request that has ended", async () => {
  const { client, received } = createScriptedService(() => respond(200, "[]"));
  await resultsAfter(1_000, client.pets.list({ signal: new AbortController().signal }));
  expect(received.map(({ signal }) => getEventListeners(signal, "abort"))).toEqual([[]]);
});

it.each<[options: Partial<PetStoreClientOptions>, error: RegExp | typeof RangeError]>([
  [{ baseUrl: "localhost:3000/v1" }, TypeError],
  [{ baseUrl: "http://user:password@localhost/v1" }, TypeError],
  // As from an environment variable that is not set, in JavaScript.
  [JSON.parse('{ "baseUrl": null }'), /^baseUrl must be/],
  [JSON.parse('{ "apiKey": null }'), /^apiKey must be/],
  // The whole message: it does not show the key.
  [{ apiKey: "sécret\n" }, /^apiKey must be printable ASCII without blanks$/],
  // No request would start.
  [{ maxConcurrent: 0.9 }, RangeError],
])("creates no client with %o", (options, error) => {
  expect(() => createPetStoreClient({ baseUrl: "http://localhost/v1", apiKey: "key", ...options })).toThrow(error);
});
