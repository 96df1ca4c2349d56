import { afterAll, expect, it } from "vitest";
import { createsWhileKilled } from "../src/real-scenarios.js";
import { openRealStore } from "../src/real-store.js";
import { startService } from "../src/service-process.js";

const store = await openRealStore();
const service = await startService(store.databaseUrl);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

it("every pet is there once after SIGKILL of the service under creates, and its start again", async () => {
  // Half of each wait: 15 seconds together, in which also a slow machine has started the service again.
  const options = { creates: 600, killAfterMs: 300, downMs: 1_500, random: () => 0.5 };
  const figures = await createsWhileKilled({ store, service }, options);
  expect(figures).toMatchObject({ acknowledged: 600, failed: 0, duplicates: 0, lost: 0 });
  // Otherwise the kill came when nothing was under way, and this shows nothing.
  expect(figures.unanswered).toBeGreaterThan(0);
});
