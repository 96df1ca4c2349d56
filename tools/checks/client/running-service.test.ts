// The client in front of the running service.
import { randomUUID } from "node:crypto";
import { createPetStoreClient, type Fetch, serviceErrorCodes } from "@petstore/client";
import { problems } from "@petstore/core";
import { shared } from "@petstore/harness";
import { it } from "@petstore/harness/test-with-figures";
import { expect, vi } from "vitest";
import { openRunningStore } from "../conformance/running-store.js";

const store = await shared(openRunningStore({ services: ["rest"] }));

it("knows every code that the REST API answers, and no other", () => {
  const codes = Object.keys(problems).filter((code) => !/^(GRAPHQL|PERSISTED_QUERY)_/.test(code));
  expect([...serviceErrorCodes].sort()).toEqual(codes.sort());
});

it("stores every pet once when responses are lost and the service is killed", async ({ figures }) => {
  const apiKey = await store.issueKey("valid");
  const answered = new Set<string>();
  const counts = { successes: 0, replays: 0 };
  /** Loses every tenth response to a first create, after the service has done its work. */
  const losingFetch: Fetch = async (input, init) => {
    const response = await fetch(input, init);
    const text = await response.text();
    const idempotencyKey = new Headers(init?.headers).get("idempotency-key") ?? "";
    const isFirst = !answered.has(idempotencyKey);
    answered.add(idempotencyKey);
    if (isFirst && answered.size % 10 === 0) throw new TypeError("the response is lost");
    if (response.ok) counts.successes += 1;
    if (response.headers.has("idempotency-replayed")) counts.replays += 1;
    return new Response(text, response);
  };
  // The retries last longer than a slow machine needs to start the service.
  const options = { apiKey, fetch: losingFetch, random: () => 0.5, maxRetries: 8 };
  const client = createPetStoreClient({ baseUrl: `${store.originOf("rest")}/v1`, ...options });
  const names = Array.from({ length: 150 }, () => randomUUID());
  const creating = Promise.all(names.map((name) => client.pets.create({ name, categoryId: 1 })));
  await vi.waitUntil(() => counts.successes > 30, { timeout: 120_000 });
  await store.killAndRestart("rest");
  await creating;
  const stored = await store.database.countByName(names);
  figures.count(150, "pets that are stored once", names, (name) => stored.get(name) === 1);
  figures.atLeast(12, "replayed creates", counts.replays);
});
