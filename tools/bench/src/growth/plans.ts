import { open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { petStatuses } from "@petstore/core";
import { ask } from "../pets.js";
import type { Server } from "../server.js";
import { type Api, apis, pageSize } from "./apis.js";
import type { Outcome } from "./outcome.js";
import { buffersOf, describePlan, faultOf, type LoggedPlan, mostBuffers, plansIn } from "./plan.js";
import type { Stage } from "./stage.js";

export interface PlanReport {
  readonly outcomes: readonly Outcome[];
  /** One plan of each kind, a line each. */
  readonly examples: readonly string[];
  readonly seen: unknown;
}

interface PlannedStore {
  readonly databaseUrl: string;
  readonly apiKey: string;
}

/** A service reads over two connections, and each makes its own plans. */
const repetitions = 4;

/** PostgreSQL chooses one of these two plans for a statement; new statistics may change its choice, so both are read. */
const modes = ["force_custom_plan", "force_generic_plan"] as const;

/** One pet more than asked for tells whether there is a next page. */
const pets = pageSize + 1;

/**
 * Lets services list by every status, and reads the plans of the very statements they sent from the server's log, where
 * auto_explain writes them: not those of a text that is repeated here.
 */
export async function checkPlans(stage: Stage, store: PlannedStore): Promise<PlanReport> {
  await logPlans(stage, store.databaseUrl);
  const seen = new Map<string, LoggedPlan[]>();
  for (const mode of modes) {
    const databaseUrl = new URL(store.databaseUrl);
    databaseUrl.searchParams.set("options", `-c plan_cache_mode=${mode}`);
    const plans: LoggedPlan[] = [];
    for (const api of apis) {
      await using server = await stage.openService(api, `${api.name}-${mode}`, { databaseUrl: databaseUrl.href });
      plans.push(...(await plansOf(stage, api, server, store.apiKey)));
    }
    seen.set(mode, plans);
  }
  await ask(stage.administratorUrl, `alter database ${databaseName(store.databaseUrl)} reset all`);
  return {
    outcomes: [...seen].map(([mode, plans]) => judgePlans(mode, plans)),
    examples: [...seen].flatMap(([mode, [first]]) => (first ? [`${mode}: ${describePlan(first)}`] : [])),
    seen: Object.fromEntries(seen),
  };
}

function judgePlans(mode: string, plans: readonly LoggedPlan[]): Outcome {
  const fault = plans.map((plan) => faultOf(plan, pets)).find((reason) => reason !== undefined);
  const most = Math.max(...plans.map(buffersOf));
  return {
    what: `plans of the lists by status, ${mode}`,
    measured: fault ?? `${plans.length} times that, ${most} buffers at most`,
    goal: `pets_status_id alone, no sort, no filter, at most ${mostBuffers(pets)} buffers`,
    met: plans.length > 0 && fault === undefined,
  };
}

/** Applies to connections made from now on. */
async function logPlans({ administratorUrl }: Stage, databaseUrl: string): Promise<void> {
  const settings = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_buffers": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_format": "json",
  };
  for (const [name, value] of Object.entries(settings)) {
    const statement = `alter database ${databaseName(databaseUrl)} set ${name} = '${value}'`;
    await ask(administratorUrl, statement);
  }
}

async function plansOf({ databaseLog }: Stage, api: Api, server: Server, apiKey: string): Promise<LoggedPlan[]> {
  await using log = await open(databaseLog);
  const { size } = await log.stat();
  let asked = 0;
  for (const status of petStatuses) {
    for (let repetition = 0; repetition < repetitions; repetition++) {
      const { path, method, headers, body } = api.list({ status }, apiKey);
      const response = await fetch(server.origin + path, { method, headers, ...(body !== undefined && { body }) });
      if (api.idsOf(await response.json()).length !== pageSize) throw new Error(`${server.name} lists no whole page`);
      asked++;
    }
  }
  const timeout = AbortSignal.timeout(10_000);
  while (!timeout.aborted) {
    const buffer = Buffer.alloc((await log.stat()).size - size);
    await log.read(buffer, 0, buffer.length, size);
    const plans = plansIn(buffer.toString("utf8")).filter((plan) => /from "?pets"? .*limit/s.test(plan["Query Text"]));
    if (plans.length === asked) return plans;
    // The last ones are being written.
    await delay(50);
  }
  throw new Error("PostgreSQL did not log the plans of the lists");
}

function databaseName(databaseUrl: string): string {
  return new URL(databaseUrl).pathname.slice(1);
}
