import { describeWithRedis } from "@petstore/harness";
import { expect, test } from "vitest";

// Run by describe-with-redis.test.ts alone, on a machine that has no redis-server as far as PATH tells.
describeWithRedis("a suite that needs Redis", () => {
  test("does not run", () => {
    expect.unreachable();
  });
});
