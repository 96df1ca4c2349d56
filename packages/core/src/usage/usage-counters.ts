/**
 * Counts units and refusals for the usage history in memory, and adds them to the table `usage_hours` every 10 s. No request
 * waits for it.
 *
 * A counter belongs to one API key, one hour and one operation:
 *
 * 1. It counts.
 * 2. The next write puts all counters into numbered *batches*, which do not change any more. Units that come later have a new
 *    counter.
 * 3. PostgreSQL adds the batch to the table, and the counter is forgotten.
 *
 * After a failed write, the next one sends the same batch again, under the same number. PostgreSQL adds a number only once,
 * so a write that succeeded without a reply is not counted twice. Meanwhile no further batches are made, so that an outage of
 * hours needs one counter for each key, hour and operation.
 */
import { randomUUID } from "node:crypto";
import type { Database } from "../database/database.js";
import type { Log } from "../log.js";
import { addUsage } from "./usage-table.js";

export interface UsageCounters extends AsyncDisposable {
  /** A negative number gives units back. Returns false if the memory is full, and the units are not counted. */
  addAdmitted(place: UsagePlace, units: number): boolean;
  /** Counts one request. */
  addRefused(place: UsagePlace): void;
  /** Writes what was counted until now. After a failure, it stays in memory, and the log says so. */
  flush(): Promise<void>;
  stats(): UsageStats;
}

/** The counter of a request. */
export interface UsagePlace {
  readonly keyId: bigint;
  readonly countedAs: CountedAs;
  /** Epoch milliseconds: an instant in the hour of the counter. */
  readonly atMs: number;
}

/** Under which operation requests are counted. */
export interface CountedAs {
  readonly api: "rest" | "graphql";
  /** A deprecated operation, so that an operator can see who still calls it. All others are counted together. */
  readonly operation?: "getPet";
}

export interface UsageStats {
  /** Rows of `usage_hours` that this instance has added to. */
  readonly rowsWritten: number;
  readonly failedWrites: number;
  /** Units and refusals that were not counted, because the memory was full. */
  readonly dropped: number;
}

interface Counter {
  readonly keyId: bigint;
  readonly hour: number;
  readonly countedAs: CountedAs;
  admitted: number;
  refused: number;
}

interface Batch {
  readonly number: number;
  readonly counters: readonly Counter[];
}

const intervalMs = 10_000;
const hourMs = 3_600_000;
/** A statement with so many rows takes some 20 ms. */
const countersPerBatch = 1_000;
/** At this number of counters, they are written before the 10 s are over. */
const flushAt = 5_000;
/** Counters in memory at once, those in batches included, about 250 bytes each. */
const maxCounters = 10_000;
/** How long the end of the process waits for the last write. */
const lastWriteMs = 2_000;

export function createUsageCounters(database: Pick<Database, "run">, log: Log): UsageCounters {
  const writer = randomUUID();
  /** By key id. A text of key, hour and operation would cost a request three times as much. */
  const counters = new Map<bigint, Counter[]>();
  let counterCount = 0;
  const batches: Batch[] = [];
  let batchesMade = 0;
  let writing: Promise<void> | undefined;
  let hasFailed = false;
  let isFull = false;
  let rowsWritten = 0;
  let failedWrites = 0;
  let dropped = 0;
  const timer = setInterval(flush, intervalMs).unref();

  /** The counter of the place; `undefined` if it would be one too many. */
  function counterAt({ keyId, countedAs, atMs }: UsagePlace): Counter | undefined {
    const hour = Math.floor(atMs / hourMs);
    const ofKey = counters.get(keyId);
    const known = ofKey?.findLast((counter) => counter.hour === hour && isEqual(counter.countedAs, countedAs));
    if (known !== undefined) return known;
    if (counterCount + countersInBatches() >= maxCounters) return undefined;
    const created: Counter = { keyId, hour, countedAs, admitted: 0, refused: 0 };
    if (ofKey === undefined) counters.set(keyId, [created]);
    else ofKey.push(created);
    counterCount += 1;
    if (counterCount === flushAt) void flush();
    return created;
  }

  function countersInBatches(): number {
    return batches.reduce((sum, batch) => sum + batch.counters.length, 0);
  }

  function drop(count: number): void {
    if (!isFull) log.warn({}, "too many usage counters are unwritten; further keys are missing in the usage history");
    isFull = true;
    dropped += count;
  }

  function flush(): Promise<void> {
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  async function write(): Promise<void> {
    try {
      await writeBatches();
      makeBatches();
      await writeBatches();
      hasFailed = false;
      isFull = false;
    } catch (error) {
      failedWrites += 1;
      if (!hasFailed) log.warn({ error }, "could not write the usage history; it is kept in memory and written later");
      hasFailed = true;
    }
  }

  async function writeLast(): Promise<void> {
    // A write in flight does not include what was counted after its begin.
    await writing;
    await flush();
  }

  function makeBatches(): void {
    const counted = [...counters.values()].flat();
    counters.clear();
    counterCount = 0;
    for (let start = 0; start < counted.length; start += countersPerBatch) {
      batchesMade += 1;
      batches.push({ number: batchesMade, counters: counted.slice(start, start + countersPerBatch) });
    }
  }

  async function writeBatches(): Promise<void> {
    for (let batch = batches[0]; batch !== undefined; batch = batches[0]) {
      await database.run(addUsage, { writer, batch: batch.number, ...columnsOf(batch.counters) });
      rowsWritten += batch.counters.length;
      batches.shift();
    }
  }

  return {
    addAdmitted(place, units) {
      const counter = counterAt(place);
      if (counter === undefined) {
        drop(Math.abs(units));
        return false;
      }
      counter.admitted += units;
      return true;
    },
    addRefused(place) {
      const counter = counterAt(place);
      if (counter === undefined) drop(1);
      else counter.refused += 1;
    },
    flush,
    stats: () => ({ rowsWritten, failedWrites, dropped }),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await atMost(lastWriteMs, writeLast());
      const lost = counterCount + countersInBatches();
      if (lost > 0) log.warn({ counters: lost }, "ends without having written the last counts of the usage history");
    },
  };
}

function isEqual(one: CountedAs, other: CountedAs): boolean {
  return one.api === other.api && one.operation === other.operation;
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

function columnsOf(counters: readonly Counter[]) {
  return {
    keyIds: counters.map(({ keyId }) => keyId),
    hours: counters.map(({ hour }) => new Date(hour * hourMs).toISOString()),
    apis: counters.map(({ countedAs }) => countedAs.api),
    operations: counters.map(({ countedAs }) => countedAs.operation ?? ""),
    admitted: counters.map(({ admitted }) => admitted),
    refused: counters.map(({ refused }) => refused),
  };
}
