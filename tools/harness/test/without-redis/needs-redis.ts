import { describeWithRedis } from "@petstore/harness";
import { expect, test } from "vitest";

// Only describe-with-program.test.ts runs this, without redis-server in PATH.
describeWithRedis("a suite that needs Redis", () => {
  test("does not run", () => {
    expect.unreachable();
  });
});
