// @module-tag redis-server
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { noticesWithinMs, startBalancer } from "@petstore/harness/network";
import { openTemporaryDirectory, repository } from "@petstore/harness/processes";
import { apis, twoOfEach } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { checkAdmitted, millisecondsUntil } from "../environment/measures.js";
import { type Result, slowestMs } from "../environment/results.js";
import { faultless } from "../environment/services.js";
import { checkWalks, startWalkers } from "../lists/walkers.js";

const restarts = 8;
const wantedRequests = 50_000;
const graceMs = 2 * noticesWithinMs;

it("rolling-restart: 8 restarts cause no error", { tags: ["haproxy"] }, async ({ environment, figures }) => {
  await environment.startWithRedis({ ...faultless, SHUTDOWN_GRACE_MS: `${graceMs}` }, twoOfEach);
  const running = [...environment.services];
  const targets = await Promise.all(
    apis.map(async (api) => {
      const ports = running.filter((service) => service.api === api).map(({ port }) => port);
      return { api, ...environment.use(await startBalancer(ports)) };
    }),
  );
  const load = await environment.startLoad({ targets, clients: 32, pauseMs: 5 });
  let slowestStopMs = 0;
  for (let restart = 0; restart < restarts; restart += 1) {
    const index = restart % running.length;
    const service = running[index];
    if (service === undefined) throw new Error("there is no such service");
    const startMs = performance.now();
    await service.stop();
    slowestStopMs = Math.max(slowestStopMs, performance.now() - startMs);
    const successors = await environment.startMore([{ api: service.api, port: service.port }]);
    await millisecondsUntil(successors, "ready");
    running.splice(index, 1, ...successors);
    for (const { untilUp } of targets) await untilUp(running.length / targets.length);
  }
  const during = load.results.length;
  while (load.results.length < wantedRequests) await sleep(100);
  await load.stop();
  figures.atLeast(10_000, "requests during the restarts", during);
  figures.count(0, "answers other than 200 and 201", load.results, isOther);
  figures.atMost(graceMs + 2_500, "the slowest stop", slowestStopMs, "ms");
  figures.atMost(5_000, "the slowest answer", slowestMs(load.results), "ms");
});

/** The commit of version 1.1.0. */
const previousRelease = "199d30b";
const loadRequests = 10_000;
const run = promisify(execFile);
const original = fileURLToPath(repository);

it("rolling-upgrade: both releases share quotas exactly, and walks get each pet that the previous one creates", {
  tags: ["git", "tar"],
}, async ({ environment, figures, skip }) => {
  const looked = run("git", ["-C", original, "cat-file", "-e", previousRelease]);
  const isInHistory = await looked.then(Boolean, () => false);
  // If CI is set, the test fails instead, because nobody reads there which tests were skipped.
  // biome-ignore lint/style/noProcessEnv: only tests use this.
  if (!isInHistory && !process.env.CI) skip(`the Git history has no commit ${previousRelease}`);
  const { path } = environment.use(await openTemporaryDirectory());
  await buildPreviousRelease(path);
  const instances = apis.flatMap((api) => {
    const main = pathToFileURL(join(path, "services", api.name, "dist", "main.js"));
    return [{ api: { ...api, main } }, { api }];
  });
  await environment.startWithRedis(faultless, instances);
  const upgraded = environment.services.filter(({ api }) => apis.includes(api));
  const walkers = await startWalkers(environment, { targets: upgraded, walkers: 1, limit: 50, pauseMs: 100 });
  const load = await environment.startLoad({ clients: 32, pauseMs: 0, requests: loadRequests });
  await checkAdmitted(environment, figures, { accounts: 10, limit: 1_000, clients: 64, requests: 3_000 });
  await walkers.stop();
  figures.count(0, "answers other than 200 and 201", load.results, isOther);
  checkWalks(figures, walkers);
});

/** Takes the release from the Git history, installs its dependencies and builds its services: about a minute. */
async function buildPreviousRelease(folder: string): Promise<void> {
  await run("sh", ["-c", `git -C "$1" archive ${previousRelease} | tar -x -C "$2"`, "sh", original, folder]);
  const { packageManager } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const pnpm = (...args: string[]) =>
    run("npx", ["--yes", packageManager, ...args], { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  await pnpm("install", "--frozen-lockfile", "--prefer-offline");
  await pnpm("exec", "turbo", "run", "build", "--filter=@petstore/rest...", "--filter=@petstore/graphql...");
}

function isOther({ status }: Result): boolean {
  return status !== 200 && status !== 201;
}
