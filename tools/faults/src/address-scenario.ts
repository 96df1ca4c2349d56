import { openRedisServer } from "@petstore/harness/redis";
import { graphqlRouter } from "./api.js";
import { patient } from "./environment.js";
import { isGood } from "./exchange.js";
import { atMost, checkAlive, count, exactly } from "./measure.js";
import { largestMebibytes } from "./resident-memory.js";
import type { Scenario } from "./scenario.js";

const addresses = 200_000;
const limits = { perMinute: 1_000_000_000, perDay: 1_500 };

export const addressScenario: Scenario = {
  group: "redis",
  name: "address-flood",
  cause: `${addresses} requests without a valid key, each from another address that a trusted proxy tells`,
  expected: "nothing of them in Redis, bounded memory, the quota of an account untouched",
  needs: ["redis-server"],
  async run(stage) {
    const redis = stage.use(await openRedisServer());
    const settings = { ...patient, TRUST_PROXY: "127.0.0.0/8" };
    const services = await stage.startServices([redis.url], settings, [{}, { api: graphqlRouter }]);
    const account = await stage.store.issueKey(limits);
    const first = await stage.load({ limits, account, pauseMs: 0, requests: 1_000 });
    await first.done;
    const keysBefore = Number(await redis.command("dbsize"));
    const mebibytesBefore = await largestMebibytes(services);
    const answers = await stage.burst({
      requests: addresses,
      callers: 16,
      ahead: 16,
      apiKey: () => "malformed",
      call: ({ list }, request) => ({ ...list, headers: { ...list.headers, "x-forwarded-for": addressOf(request) } }),
    });
    const grownMebibytes = (await largestMebibytes(services)) - mebibytesBefore;
    const keys = Number(await redis.command("dbsize")) - keysBefore;
    const second = await stage.load({ limits, account, pauseMs: 0, requests: 1_000 });
    await second.done;
    return [
      exactly(
        addresses,
        "answered 401",
        count(answers, ({ status }) => status === 401),
      ),
      exactly(0, "keys that Redis has more", keys),
      atMost(100, "memory that the larger process has grown by", grownMebibytes, "MiB"),
      exactly(
        limits.perDay,
        "admitted of the account, before and after",
        count([...first.exchanges, ...second.exchanges], isGood),
      ),
      ...checkAlive(services),
    ];
  },
};

/** Addresses in 2001:db8::/32, each in its own /64, so each is counted separately. */
function addressOf(request: number): string {
  return `2001:db8:${(request >> 16).toString(16)}:${(request & 0xffff).toString(16)}::1`;
}
