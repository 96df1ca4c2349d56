/**
 * Observes the inserts of all instances and operators, and says which ids are settled (`settling.ts`). It observes once a second,
 * and at once if a page waits. No insert ever waits for an observation.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../../database/database.js";
import { type NamedSql, statement } from "../../database/statement.js";
import type { Log } from "../../log.js";
import { nothingSettled, type Observation, settle, startsOver } from "./settling.js";

export interface SettledIds extends Disposable {
  /** Resolves when an id is settled, or cannot be soon: the database is unavailable. Never rejects. */
  readonly first: Promise<void>;
  /** The settled id: each id up to it is stored, or never will be. `undefined` if it is unknown. */
  current(): bigint | undefined;
  /**
   * Changes when nothing that was read before counts any longer: another server, or the same one after a restart, may lack
   * what the old one had stored, and may draw its ids again.
   */
  epoch(): number;
  /**
   * Waits until the id of a stored pet is settled, for 0.9 s at most, and then returns `late`. `not drawn`: the id does not
   * come from the sequence, so it cannot be settled. Throws SERVICE_UNAVAILABLE if the database is unavailable.
   */
  settle(id: bigint): Promise<SettleOutcome>;
  stats(): SettleStats;
}

type SettleOutcome = "settled" | "late" | "not drawn";

export interface SettleStats {
  /** How many pages have waited, by the outcome, and for how long together. */
  readonly waits: Readonly<Record<SettleOutcome, number>>;
  readonly waitedMs: number;
  /** Pages that wait now. */
  readonly waiting: number;
  /** Transactions that hold an insert open for so long that no page waits for them. */
  readonly forgottenInserts: number;
}

interface SettledIdsDeps {
  readonly database: Pick<Database, "run" | "noticeServer" | "serverChanges">;
  readonly log: Log;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicNow: () => number;
  /** The longest time that an insert of a service takes. */
  readonly writeTimeoutMs: number;
}

interface Waiter {
  readonly id: bigint;
  /** How many observations had begun before it waited. A later one knows whether its id was drawn. */
  readonly observations: number;
  readonly resolve: (outcome: SettleOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** With the two reads of the page, a list takes less than a second even if it waits in vain. */
const patienceMs = 900;
/** The pause between two observations. It doubles while pages wait and nothing is settled. */
const shortestPauseMs = 2;
const longestPauseMs = 50;
/** Observations without waiting pages keep the settled id close to the end, and measure how long inserts are open. */
const tickMs = 1_000;
/**
 * A statement of a service ends sooner. Only its commit can last longer: it waits for the disk or for a synchronous standby, and
 * no time limit of PostgreSQL applies to it. Any other insert that is as old as this is in somebody's own session.
 */
const forgottenAfterMs = 5_000;
/** Without an observation for this time, the age of an open insert is unknown. */
const blindAfterMs = 3_000;
/** A settled id that could not be observed again for this time counts as unknown, because a pooler may hide a failover. */
const freshMs = 5_000;

export function openSettledIds({ database, log, monotonicNow, writeTimeoutMs }: SettledIdsDeps): SettledIds {
  const ignoreAfterMs = Math.max(forgottenAfterMs, writeTimeoutMs + 1_000);
  const waiters = new Set<Waiter>();
  const waits: Record<SettleOutcome, number> = { settled: 0, late: 0, "not drawn": 0 };
  let waitedMs = 0;
  /** When each open insert was seen first. */
  let firstSeenMs = new Map<string, number>();
  let forgotten = new Set<string>();
  let settling = nothingSettled;
  let settlingEpoch = 0;
  let observedAtMs = Number.NEGATIVE_INFINITY;
  let restarts = 0;
  let observations = 0;
  let inFlight: Promise<void> | undefined;
  let next: NodeJS.Timeout | undefined;
  let endedAtMs = Number.NEGATIVE_INFINITY;
  let pauseMs = shortestPauseMs;
  let isDisposed = false;
  const ticks = setInterval(() => void observe(), tickMs).unref();

  /** Both numbers only grow, so their sum changes if one of them does. */
  const epoch = () => database.serverChanges() + restarts;

  function current(): bigint | undefined {
    const isKnown = settlingEpoch === epoch() && monotonicNow() - observedAtMs <= freshMs;
    return isKnown ? settling.settledId : undefined;
  }

  function isSettled(id: bigint): boolean {
    const settledId = current();
    return settledId !== undefined && id <= settledId;
  }

  /** Observes now, or as soon as the pause since the last observation is over. */
  function observeSoon(): void {
    if (inFlight !== undefined || next !== undefined || isDisposed) return;
    const leftMs = endedAtMs + pauseMs - performance.now();
    if (leftMs <= 0) void observe();
    else next = setTimeout(() => void observe(), leftMs).unref();
  }

  /** One observation at a time. Never rejects. */
  function observe(): Promise<void> {
    clearTimeout(next);
    next = undefined;
    inFlight ??= observeOnce().finally(() => {
      inFlight = undefined;
      endedAtMs = performance.now();
      if (waiters.size > 0) observeSoon();
    });
    return inFlight;
  }

  async function observeOnce(): Promise<void> {
    const before = current();
    observations += 1;
    const number = observations;
    try {
      const seen = await readObservation();
      pauseMs = current() !== before ? shortestPauseMs : Math.min(2 * pauseMs, longestPauseMs);
      for (const { id, observations: earlier, resolve } of waiters) {
        if (isSettled(id)) resolve("settled");
        else if (seen !== undefined && earlier < number && seen.drawn < id) resolve("not drawn");
      }
    } catch (error) {
      // The health check logs that the database is unavailable.
      for (const { reject } of waiters) reject(error);
    }
  }

  /** Returns `undefined`, and changes nothing, if another server took the place of the first one meanwhile. */
  async function readObservation(): Promise<Observation | undefined> {
    const startedAtMs = monotonicNow();
    const startedInEpoch = epoch();
    if (settlingEpoch !== startedInEpoch) {
      settling = nothingSettled;
      firstSeenMs = new Map();
      forgotten = new Set();
    }
    const [row] = await database.run(observePetInserts, { bounds: settling.marks.map(({ drawn }) => drawn) });
    if (row === undefined) throw new Error("observe_pet_inserts returned no row");
    database.noticeServer(row.server);
    await noteAges(row.openInserts);
    if (epoch() !== startedInEpoch) return undefined;
    const seen = { ...row, stored: row.stored.map(BigInt) };
    if (startsOver(settling, seen)) restarts += 1;
    settling = settle(settling, seen, (insert) => forgotten.has(insert));
    settlingEpoch = epoch();
    observedAtMs = startedAtMs;
    return seen;
  }

  /**
   * Notes which open inserts are ignored from now on. Time without observations does not count as their age: a server that was
   * stopped for a while still has the inserts of that moment, and they go on.
   */
  async function noteAges(openInserts: readonly string[]): Promise<void> {
    const nowMs = monotonicNow();
    const wasBlind = nowMs - observedAtMs > blindAfterMs;
    const firstSeen = (insert: string) => {
      const seenMs = wasBlind && !forgotten.has(insert) ? undefined : firstSeenMs.get(insert);
      return seenMs ?? nowMs;
    };
    firstSeenMs = new Map(openInserts.map((insert) => [insert, firstSeen(insert)]));
    const old = openInserts.filter((insert) => nowMs - firstSeen(insert) > ignoreAfterMs);
    const added = old.filter((insert) => !forgotten.has(insert));
    // While no id is settled, lists are 503. A create that waits forever must not prolong that.
    const mayIgnoreOurs = settling.settledId === undefined || added.length === 0;
    const ours = mayIgnoreOurs ? [] : await database.run(selectServiceProcesses, { ids: added.map(processOf) });
    const ourIds = new Set(ours.map(({ id }) => id));
    const isOurs = (insert: string) => ourIds.has(processOf(insert));
    for (const insert of added.filter((one) => !isOurs(one))) {
      const [processId, virtualTransaction] = insert.split(" ");
      log.warn({ processId, virtualTransaction }, "a transaction keeps an insert of pets open: lists ignore it");
    }
    forgotten = new Set(old.filter((insert) => !isOurs(insert)));
  }

  /** At the start no id is settled. An open insert must not hide all pets, so this waits until it ends or is ignored. */
  async function settleFirst(): Promise<void> {
    const pauseBetweenMs = 100;
    for (let left = (ignoreAfterMs + tickMs) / pauseBetweenMs; left > 0 && !isDisposed; left -= 1) {
      await observe();
      const isAvailable = observedAtMs !== Number.NEGATIVE_INFINITY;
      if (!isAvailable || settling.settledId !== undefined) return;
      await sleep(pauseBetweenMs);
    }
  }

  return {
    first: settleFirst(),
    current,
    epoch,
    async settle(id) {
      if (isSettled(id)) return "settled";
      const startedAtMs = performance.now();
      if (waiters.size === 0) pauseMs = shortestPauseMs;
      let waiter: Waiter | undefined;
      let timer: NodeJS.Timeout | undefined;
      try {
        const outcome = await new Promise<SettleOutcome>((resolve, reject) => {
          waiter = { id, observations, resolve, reject };
          waiters.add(waiter);
          timer = setTimeout(() => resolve("late"), patienceMs);
          observeSoon();
        });
        waits[outcome] += 1;
        return outcome;
      } finally {
        waitedMs += performance.now() - startedAtMs;
        clearTimeout(timer);
        if (waiter !== undefined) waiters.delete(waiter);
      }
    },
    stats: () => ({ waits: { ...waits }, waitedMs, waiting: waiters.size, forgottenInserts: forgotten.size }),
    [Symbol.dispose]() {
      isDisposed = true;
      clearInterval(ticks);
      clearTimeout(next);
    },
  };
}

/** A row as pg returns it: without the parser of our connections, because that one has no arrays. */
type Row = Omit<Observation, "stored"> & { readonly stored: readonly string[] };

const observePetInserts = statement<{ bounds: readonly bigint[] }, Row>(
  "read",
  "observe-pet-inserts",
  (_db, parameter) => sql<Row>`
    select server, sequence, drawn, open_inserts as "openInserts", stored
    from observe_pet_inserts(${parameter("bounds")}::bigint[])`,
);

function processOf(insert: string): string {
  return insert.split(" ")[0] ?? "";
}

/** Which of these processes run a statement of a service. PostgreSQL shows this only for the sessions of our own role. */
const selectServiceProcesses = statement<{ ids: readonly string[] }, { readonly id: string }>(
  "read",
  "select-service-processes",
  (_db, parameter) => sql<{ readonly id: string }>`
    select pid::text as id from pg_stat_activity
    where pid::text = any(${parameter("ids")}::text[]) and state = 'active'
      and usename = current_user and application_name = current_setting('application_name')`,
);

/** All statements of this file. */
export const settlingStatements: readonly NamedSql[] = [observePetInserts, selectServiceProcesses];
