import { randomUUID } from "node:crypto";
import type { Admitted, Decision } from "../../../src/quota/decision.js";
import type { Quota, Usage } from "../../../src/quota/quota.js";
import { dayMs, type Windows } from "../../../src/quota/window.js";
import type { OpenedQuota } from "../caller.js";
import { type Call, type Operation, type Script, scriptPolicy } from "./scripts.js";

/** One call and the reply of each engine, in the order of the engines. */
export interface Played extends Who {
  readonly call: Call["call"];
  readonly cost: number;
  readonly nowMs: number;
  readonly replies: readonly Reply[];
}

export type Reply = Decision | Usage | Windows | undefined;

interface Who extends Pick<Operation, "limits"> {
  readonly account: string;
  readonly key: string;
}

interface Admission {
  readonly cost: number;
  readonly receipt: Admitted;
}

/** The instants at which a reply may change. */
type Edges = Record<string, number>;

/**
 * Plays a script with new accounts on all engines at one virtual time, led by the replies of the first one, because faults hide
 * at the instants that these name. A jump goes forward only; the clock does not move to a past edge. Engines forget
 * what can have no effect unless the clock steps back by more than two days.
 */
export async function play(
  script: Script,
  engines: readonly OpenedQuota[],
  { longestStepBackMs = 2 * dayMs }: { readonly longestStepBackMs?: number } = {},
): Promise<Played[]> {
  const prefix = randomUUID();
  const edgesOfKeys = new Map<string, Edges>();
  const admissions: Admission[] = [];
  const played: Played[] = [];
  let nowMs = script.startMs;
  let latestMs = nowMs;

  for (const { move, account, key, limits, ...operation } of script.operations) {
    const who = { account: `${prefix}account-${account}`, key: `key-${key}`, limits };
    const name = `${account} ${key}`;
    if ("waitMs" in move) {
      nowMs = Math.max(nowMs + move.waitMs, latestMs - longestStepBackMs);
    } else {
      const edges = Object.values(edgesOfKeys.get(name) ?? {});
      nowMs = Math.max(nowMs, (edges[move.edge % edges.length] ?? 0) + move.offsetMs);
    }
    latestMs = Math.max(latestMs, nowMs);

    const call = callOf(operation, who, admissions);
    if (call === undefined) continue;
    const { cost = 0, times = 1, send } = call;
    const repliesOfEngines: Reply[][] = [];
    for (const { quota, setNow } of engines) {
      setNow(nowMs);
      repliesOfEngines.push(await Promise.all(Array.from({ length: times }, () => send(quota))));
    }
    for (let time = 0; time < times; time += 1) {
      const replies = repliesOfEngines.map((ofEngine) => ofEngine[time]);
      played.push({ call: operation.call, ...who, cost, nowMs, replies });
      const [decision] = replies;
      if (decision === undefined || !("outcome" in decision)) continue;
      edgesOfKeys.set(name, edgesAfter(decision, edgesOfKeys.get(name)));
      if (decision.outcome === "admitted") admissions.push({ cost, receipt: decision });
    }
  }
  return played;
}

/** Undefined if the call needs an admission that does not exist. */
function callOf(
  operation: Call,
  who: Who,
  admissions: readonly Admission[],
): { readonly cost?: number; readonly times?: number; send(quota: Quota): Promise<Reply> } | undefined {
  switch (operation.call) {
    case "reserve": {
      const { cost, times } = operation;
      return { cost, times, send: (quota) => quota.reserve({ ...who, cost }) };
    }
    case "extend": {
      const { cost } = operation;
      const admission = admissions.findLast((admission) => admission.cost === 1);
      return admission && { cost, send: (quota) => quota.extend({ ...who, cost, receipt: admission.receipt }) };
    }
    case "refund": {
      const admission = admissions.at(-1 - operation.admissionsAgo);
      return admission && { ...admission, send: (quota) => quota.refund({ ...who, ...admission }) };
    }
    case "liftBan":
      return { send: async (quota) => void (await quota.liftBan({ ...who, liftedAgoMs: operation.liftedAgoMs })) };
    case "usage":
      return { send: (quota) => quota.usage(who) };
  }
}

function edgesAfter(decision: Decision, before: Edges = {}): Edges {
  const { nowMs, minute, day } = decision;
  const edges = { ...before, minuteReset: minute.resetAtMs, dayReset: day.resetAtMs };
  const { graceMs, earlyMs, longestEpisodeMs, memoryMs } = scriptPolicy;
  if (decision.outcome === "banned") {
    const { bannedUntilMs, retryAtMs } = decision;
    return { ...edges, retry: retryAtMs, banEnd: bannedUntilMs, memoryEnd: bannedUntilMs + memoryMs };
  }
  if (decision.outcome !== "refused") return edges;
  const { retryAtMs } = decision;
  const isEpisodeRunning = nowMs < Math.min(before.retry ?? 0, before.episodeEnd ?? 0);
  return {
    ...edges,
    ...(!isEpisodeRunning && { graceEnd: nowMs + graceMs, episodeEnd: nowMs + longestEpisodeMs }),
    retry: retryAtMs,
    earlyStart: retryAtMs - earlyMs,
  };
}
