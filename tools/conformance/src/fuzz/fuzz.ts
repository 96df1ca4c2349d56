import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { openStage, type Services, type Stage } from "../stage.js";
import { type Arena, openArena } from "./arena.js";
import { type CampaignOptions, type Finding, replay, runCampaign } from "./campaign.js";
import { helpText, type RunOptions, readCommandLine } from "./command-line.js";
import { openKinds } from "./kinds.js";
import { apisOf } from "./play-twin.js";
import { formatReport, type Result, reportJson } from "./report.js";
import { seedCatalogue } from "./seed-catalogue.js";
import type { ApiOf } from "./wire.js";

interface Surroundings {
  print(text: string): void;
  complain(text: string): void;
  /** Ends the run early: what it has found is reported. */
  readonly signal: AbortSignal;
}

/** In flight, all together. */
const concurrency = 256;

const progressMs = 5_000;

/** Runs one command line; the exit code is 0, 1 when anything must not have happened, 2 when it was not understood. */
export async function runFuzz(words: readonly string[], { print, complain, signal }: Surroundings): Promise<0 | 1 | 2> {
  const command = readCommandLine(words);
  switch (command.kind) {
    case "help":
      print(helpText);
      return 0;
    case "unclear":
      complain(command.reason);
      return 2;
    case "run": {
      await using stage = await openStage();
      await using services = await startApis(stage);
      const origins = { rest: services.originOf("rest"), graphql: services.originOf("graphql") };
      const surroundings = { origins, store: stage.store, services: services.all, complain, signal };
      const result = await fuzz({ ...command, ...surroundings, until: [] });
      print(formatReport(result));
      if (command.jsonFile !== undefined) await writeFile(command.jsonFile, reportJson(result));
      const isWhole = command.replay !== undefined || command.maxSeconds !== undefined || hadEnough(result, command);
      return isWhole && result.findings.length === 0 ? 0 : 1;
    }
  }
}

/** Both services, which answer 429 and 503 for what is sent, and not for how much of it is. */
export function startApis(stage: Stage): Promise<Services> {
  return stage.startServices(["rest", "graphql"], {
    ANONYMOUS_REQUESTS_PER_MINUTE: "1000000000",
    ANONYMOUS_REQUESTS_PER_DAY: "1000000000",
    DATABASE_ACQUIRE_TIMEOUT_MS: "10000",
    DATABASE_READ_TIMEOUT_MS: "10000",
    DATABASE_WRITE_TIMEOUT_MS: "10000",
  });
}

export interface FuzzOptions extends Omit<RunOptions, "jsonFile"> {
  readonly origins: Readonly<Record<ApiOf, string>>;
  readonly store: Stage["store"];
  readonly services: Services["all"];
  readonly until: CampaignOptions["until"];
  readonly signal: AbortSignal;
  /** Told how far it is, now and then. */
  complain(text: string): void;
}

export async function fuzz(options: FuzzOptions): Promise<Result> {
  const { origins, store, services, complain, signal, until, requests, apis, maxSeconds } = options;
  const seed = options.seed ?? randomInt(1, 1_000_000_000);
  await using arena = await openArena(origins, store, concurrency / 2);
  const kinds = await openKinds(arena, await seedCatalogue(arena));
  const beganMs = performance.now();
  const passed = () => (performance.now() - beganMs) / 1_000;
  const timer = setInterval(() => complain(progress(arena, requests, passed())), progressMs);
  try {
    const findings = [];
    const { replay: again } = options;
    const chosen = kinds.find(({ name }) => name === again?.kind);
    const now = () => performance.now();
    if (again !== undefined && chosen !== undefined) findings.push(...(await replay(chosen, again.seed, again.path)));
    else
      findings.push(
        ...(await runCampaign(kinds, arena, { seed, requests, apis, maxSeconds, concurrency, until, signal, now })),
      );
    const seconds = passed();
    const sent = { ...arena.sent };
    findings.push(...(await readBack(arena, apis, seed, signal)));
    if (services.some(({ isAlive }) => !isAlive)) findings.push(without("died", "a service has ended", seed));
    const answers = Object.fromEntries(arena.answers);
    return { seed, seconds, sent, pets: arena.ledger.size, answers, findings };
  } finally {
    clearInterval(timer);
  }
}

async function readBack(arena: Arena, apis: readonly ApiOf[], seed: number, signal: AbortSignal): Promise<Finding[]> {
  const exchanges = arena.begin();
  const byApi = apisOf(arena, exchanges);
  const lost = [];
  for (const api of apis)
    lost.push(...(await arena.ledger.readBack(api === "rest" ? byApi.rest : byApi.connection, arena.key, signal)));
  return [...lost, ...exchanges.faults].map(({ oracle, reason }) => without(oracle, reason, seed));
}

/** A finding that no single case has brought about. */
function without(oracle: Finding["oracle"], reason: string, seed: number): Finding {
  return { oracle, reason, kind: "twins", seed, path: "", count: 1, curl: [] };
}

function hadEnough({ sent }: Result, { requests, apis }: RunOptions): boolean {
  return apis.every((api) => sent[api] >= requests);
}

function progress({ sent, ledger }: Arena, requests: number, seconds: number): string {
  const done = [`${Math.round(seconds)} s: REST ${sent.rest}, GraphQL ${sent.graphql} of ${requests}`];
  return [...done, `${Math.round((sent.rest + sent.graphql) / seconds)}/s`, `${ledger.size} pets`].join(", ");
}
