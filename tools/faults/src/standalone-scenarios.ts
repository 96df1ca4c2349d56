import { setTimeout as sleep } from "node:timers/promises";
import { embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { checkpointOnFullDisk, diskFull } from "./disk-full-scenario.js";
import { atLeast, atMost, count, exactly } from "./measure.js";
import { powerLoss } from "./power-loss-scenario.js";
import { startProgram } from "./program.js";
import type { Scenario } from "./scenario.js";
import { createKeeper, openDirectory, postmasterOf, type RunningStore, standaloneMain } from "./standalone-store.js";

const kills = 20;
/** Of them, the fourth, the eighth and so on end PostgreSQL too. */
const databaseEvery = 4;

export const standaloneScenarios: readonly Scenario[] = [
  {
    group: "standalone",
    name: "standalone-killed",
    cause: `SIGKILL ${kills} times under creates, to its PostgreSQL as well every ${databaseEvery} times`,
    expected: "lost 0; the next start adopts or recovers what is left",
    mayFail: true,
    async run(stage) {
      const directory = stage.use(await openDirectory());
      const keeper = stage.use(createKeeper(directory.path, stage.hear));
      let store = await keeper.start();
      await stage.adopt((await embeddedPostgresUrl(directory.path)) ?? "");
      let target: RunningStore | undefined = store;
      const creates = await stage.create({ callers: 16, target: () => target });
      const starts: number[] = [];
      for (let kill = 1; kill <= kills; kill += 1) {
        // Never at the same moment of a request.
        await sleep(150 + Math.random() * 150);
        target = undefined;
        stage.mark();
        if (kill % databaseEvery === 0) process.kill(await postmasterOf(directory.path), "SIGKILL");
        store.program.signal("SIGKILL");
        await store.program.ended;
        const startMs = performance.now();
        store = await keeper.start();
        starts.push(performance.now() - startMs);
        target = store;
      }
      await creates.stop();
      const made = count(creates.exchanges, ({ created }) => created !== undefined);
      return [
        exactly(kills, "starts after a kill", starts.length),
        atMost(10_000, "slowest of them", Math.max(...starts), "ms"),
        atLeast(20 * kills, "pets acknowledged", made),
        exactly(0, "creates given up", creates.givenUp()),
      ];
    },
  },
  {
    group: "standalone",
    name: "second-start",
    cause: "a second start on the data of a running store",
    expected: "refuses within 1 s of Node's own start, with one line",
    async run(stage) {
      const directory = stage.use(await openDirectory());
      const first = await stage.use(createKeeper(directory.path, stage.hear)).start();
      const attempts: { readonly exitCode: number | null; readonly ms: number; readonly lines: readonly string[] }[] =
        [];
      const startAndEnd = async (port: string) => {
        const startMs = performance.now();
        await using second = startProgram({
          main: standaloneMain,
          environment: { PETSTORE_DIR: directory.path, PORT: port },
        });
        stage.hear(second);
        return { exitCode: await second.ended, ms: performance.now() - startMs, lines: second.output };
      };
      for (let attempt = 0; attempt < 5; attempt += 1) {
        // What starting Node and reading the modules takes on this machine, at this moment.
        const mistaken = await startAndEnd("many");
        const second = await startAndEnd("0");
        attempts.push({ ...second, ms: second.ms - mistaken.ms });
      }
      const named = `is already running, as process ${first.program.pid}.`;
      const answer = await fetch(`${first.origin}/readyz`);
      await answer.text();
      return [
        exactly(
          5,
          "of 5 end with exit code 1",
          count(attempts, ({ exitCode }) => exitCode === 1),
        ),
        exactly(
          5,
          "with one line, which names the first",
          count(attempts, ({ lines }) => lines.length === 1 && lines[0]?.endsWith(named) === true),
        ),
        atMost(1_000, "more than Node takes to start, the slowest", Math.max(...attempts.map(({ ms }) => ms)), "ms"),
        exactly(200, "the first one's /readyz meanwhile", answer.status),
      ];
    },
  },
  diskFull,
  checkpointOnFullDisk,
  powerLoss,
];
