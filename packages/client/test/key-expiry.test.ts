import { expect, it, vi } from "vitest";
import { createScriptedService, problem, respond, resultsAfter, useVirtualTime } from "./scripted-service.js";

useVirtualTime();

const [first, second] = [new Date("2027-05-20T12:00:00Z"), new Date("2027-05-23T12:00:00Z")];
const ending = (at: Date) => ({ headers: { "API-Key-Expires": at.toUTCString() } });

it("calls onKeyExpiry once for each end of the key, in whatever order the responses name them", async () => {
  const ends = [first, first, second, first, second];
  const onKeyExpiry = vi.fn<(expiresAt: Date) => void>();
  const script = (_request: unknown, index: number) => respond(200, "[]", ending(ends[index] ?? first));
  const { client } = createScriptedService(script, { onKeyExpiry });
  for (const _end of ends) expect(await resultsAfter(1_000, client.pets.list())).toEqual(["succeeded"]);
  expect(onKeyExpiry.mock.calls).toEqual([[first], [second]]);
});

it("calls onKeyExpiry for a response that refuses the call", async () => {
  const onKeyExpiry = vi.fn<(expiresAt: Date) => void>();
  const { client } = createScriptedService(() => problem(403, "INSUFFICIENT_SCOPE", ending(first)), { onKeyExpiry });
  expect(await resultsAfter(1_000, client.pets.list())).toMatchObject([{ code: "INSUFFICIENT_SCOPE" }]);
  expect(onKeyExpiry.mock.calls).toEqual([[first]]);
});

it("calls onKeyExpiry for no response without a valid end of the key", async () => {
  const onKeyExpiry = vi.fn<(expiresAt: Date) => void>();
  const headers = { "API-Key-Expires": "tomorrow" };
  const script = (_request: unknown, index: number) => respond(200, "[]", index === 0 ? {} : { headers });
  const { client } = createScriptedService(script, { onKeyExpiry });
  expect(await resultsAfter(1_000, client.pets.list())).toEqual(["succeeded"]);
  expect(await resultsAfter(1_000, client.pets.list())).toEqual(["succeeded"]);
  expect(onKeyExpiry).not.toHaveBeenCalled();
});

it.each<[what: string, onKeyExpiry: () => void]>([
  [
    "throws",
    () => {
      throw new Error("of the program");
    },
  ],
  ["rejects", () => Promise.reject(new Error("of the program"))],
  ["never ends", () => new Promise<never>(() => {})],
])("answers every call even if onKeyExpiry %s", async (_what, onKeyExpiry) => {
  const { client } = createScriptedService(() => respond(200, "[]", ending(first)), { onKeyExpiry });
  const calls = [client.pets.list(), client.pets.list()];
  expect(await resultsAfter(1_000, ...calls)).toEqual(["succeeded", "succeeded"]);
});
