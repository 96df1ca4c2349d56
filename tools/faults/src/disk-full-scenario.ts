import { setTimeout as sleep } from "node:timers/promises";
import { administratorUrl, embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { openSession } from "@petstore/harness/postgres";
import { nowMs } from "./ask.js";
import type { BurstOptions } from "./burst.js";
import { type Exchange, endOf, isCivil, isCreated, isFailure } from "./exchange.js";
import { atLeast, atMost, count, exactly } from "./measure.js";
import type { Scenario } from "./scenario.js";
import { mountSmallDisk } from "./small-disk.js";
import { roomy } from "./stage.js";
import { createKeeper, openDirectory, until } from "./standalone-store.js";

/** For the cluster, the reserve that its owner holds, and some pets. */
const megabytes = 192;
const fullMs = 6_000;
const createsBefore = 100;
const readsPerTurn = 50;

/** What the recovery of PostgreSQL may take on a busy machine. */
const recoveryMs = 3_000;
/** Its own takes a tenth of that. */
const recoveryFailsMs = 1_000;

export const diskFull: Scenario = {
  group: "standalone",
  name: "disk-full",
  cause: `the disk of its data, ${megabytes} MiB, is filled to the last byte under creates, and freed ${fullMs / 1_000} s later`,
  expected: "creates are answered 503, reads 200; both work again without a restart; lost 0",
  mayFail: true,
  async run(stage) {
    const directory = stage.use(await openDirectory());
    const disk = stage.use(await mountSmallDisk(directory.path, megabytes));
    const store = await stage.use(createKeeper(directory.path, stage.hear)).start();
    await stage.adopt((await embeddedPostgresUrl(directory.path)) ?? "");
    const { apiKey } = await stage.store.issueKey(roomy);
    const creates = await stage.create({ callers: 8, target: () => store });
    const read = () =>
      stage.burst({ requests: readsPerTurn, callers: 4, apiKey: () => apiKey, call: ({ list }) => list }, [store]);
    await until(() => count(creates.exchanges, isCreated) >= createsBefore);

    const filledAtMs = stage.mark();
    await disk.fill();
    const reads: Exchange[] = [];
    while (nowMs() - filledAtMs < fullMs) reads.push(...(await read()));
    const refused = creates.exchanges.filter(isFailure);

    const freedAtMs = stage.mark();
    await disk.free();
    await sleep(2_000);
    const later = await read();
    await creates.stop();
    const acknowledged = creates.exchanges.filter(isCreated);
    const isAgain = ({ sentAtMs }: Exchange) => sentAtMs > freedAtMs;
    return [
      atLeast(
        createsBefore,
        "pets acknowledged before it was full",
        count(acknowledged, ({ sentAtMs }) => sentAtMs < filledAtMs),
      ),
      atLeast(100, "creates refused while it was", refused.length),
      exactly(
        0,
        "of them not 503 with Retry-After",
        count(refused, (one) => !isCivil(one)),
      ),
      atLeast(readsPerTurn, "reads meanwhile", reads.length),
      exactly(
        0,
        "of them, and of those after it, not answered 200",
        count([...reads, ...later], ({ status }) => status !== 200),
      ),
      atMost(
        1_000,
        "first pet acknowledged after it was freed",
        Math.min(...acknowledged.filter(isAgain).map(endOf)) - freedAtMs,
        "ms",
      ),
      exactly(
        0,
        "creates refused later than 1 s after that",
        count(creates.exchanges, (one) => isFailure(one) && one.sentAtMs > freedAtMs + 1_000),
      ),
      exactly(0, "creates given up", creates.givenUp()),
      exactly(0, "processes that ended", Number(store.program.hasEnded())),
    ];
  },
};

/**
 * A checkpoint that cannot write ends PostgreSQL, whose recovery ends in another one: it has the reserve to do so. But it
 * does not wait for that to give way, so the store is kept from making it do so until the recovery has failed, too.
 */
export const checkpointOnFullDisk: Scenario = {
  group: "standalone",
  name: "disk-full-checkpoint",
  cause:
    "on a full disk PostgreSQL makes a checkpoint, which ends it, and its own recovery fails before the store acts",
  expected: `the store starts it again: reads are 200 again within ${recoveryMs / 1_000} s, 503 until then; lost 0`,
  mayFail: true,
  async run(stage) {
    const directory = stage.use(await openDirectory());
    const disk = stage.use(await mountSmallDisk(directory.path, megabytes));
    const store = await stage.use(createKeeper(directory.path, stage.hear)).start();
    await stage.adopt((await embeddedPostgresUrl(directory.path)) ?? "");
    const { apiKey } = await stage.store.issueKey(roomy);
    const creates = await stage.create({ callers: 8, target: () => store });
    await until(() => count(creates.exchanges, isCreated) >= createsBefore);
    await disk.fill();
    await until(() => count(creates.exchanges, isFailure) >= createsBefore);

    store.program.signal("SIGSTOP");
    const isEnded = await isEndedBy("checkpoint", await administratorUrl(directory.path));
    while ((await embeddedPostgresUrl(directory.path)) !== undefined) await sleep(20);
    await sleep(recoveryFailsMs);
    const endedAtMs = stage.mark();
    store.program.signal("SIGCONT");
    const reads: Exchange[] = [];
    const call: BurstOptions["call"] = ({ list }) => list;
    while (nowMs() < endedAtMs + 2 * recoveryMs)
      reads.push(...(await stage.burst({ requests: readsPerTurn, callers: 4, apiKey: () => apiKey, call }, [store])));
    await disk.free();
    await creates.stop();
    const missed = reads.filter(({ status }) => status !== 200);
    return [
      exactly(1, "the checkpoint ends PostgreSQL", Number(isEnded)),
      exactly(
        0,
        "reads answered neither 200 nor 503 with Retry-After",
        count(missed, (one) => !isCivil(one)),
      ),
      atMost(
        recoveryMs,
        "the last of them not answered 200",
        Math.max(endedAtMs, ...missed.map(endOf)) - endedAtMs,
        "ms",
      ),
      exactly(0, "creates given up", creates.givenUp()),
      exactly(0, "processes of the store that ended", Number(store.program.hasEnded())),
    ];
  },
};

async function isEndedBy(statement: string, url: string): Promise<boolean> {
  await using session = await openSession(url);
  try {
    await session.query(statement);
    return false;
  } catch {
    // The connection goes with the server.
    return true;
  }
}
