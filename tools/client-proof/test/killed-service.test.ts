import { afterAll, expect, it } from "vitest";
import { createsWhileKilled } from "../src/real-scenarios.js";
import { openRealStore } from "../src/real-store.js";

const store = await openRealStore();
afterAll(() => store[Symbol.asyncDispose]());

it("stores every pet once when the service is killed during creates and restarted", async () => {
  // The retries of the client then last 15 seconds. A slow machine starts the service within that time.
  const options = { creates: 600, killAfterMs: 300, downMs: 1_500, random: () => 0.5 };
  const figures = await createsWhileKilled(store, options);
  expect(figures).toMatchObject({ acknowledged: 600, failed: 0, duplicates: 0, lost: 0 });
  // Otherwise no request was in flight at the kill, and this test shows nothing.
  expect(figures.unanswered).toBeGreaterThan(0);
});
