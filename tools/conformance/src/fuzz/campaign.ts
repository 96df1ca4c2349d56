/** A run: cases are drawn round by round and played, hundreds at once, until every API has had its requests. */
import type { Arena, Exchanges } from "./arena.js";
import type { Fault, Oracle } from "./fault.js";
import type { Kind } from "./kinds.js";
import { type ApiOf, asCurl } from "./wire.js";

export interface CampaignOptions {
  readonly seed: number;
  /** For each API. */
  readonly requests: number;
  readonly apis: readonly ApiOf[];
  readonly maxSeconds: number | undefined;
  readonly concurrency: number;
  /** The run ends as soon as a fault is counted under each of these; an empty list ends no run. */
  readonly until: readonly Oracle[];
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  now(): number;
}

/** The first case of its sort that failed, as small as it could be made. */
export interface Finding extends Fault {
  readonly kind: Kind["name"];
  readonly seed: number;
  readonly path: string;
  /** How many cases failed like it. */
  readonly count: number;
  /** Every request of the smallest case, for a terminal. */
  readonly curl: readonly string[];
}

/** One round draws so many cases of each kind: few enough that drawing them delays no answer noticeably. */
const casesPerRound = 100;

/** A run that finds this many different faults has found enough. */
const maxFindings = 20;

const shrinkTimeoutMs = 5_000;

export async function runCampaign(kinds: readonly Kind[], arena: Arena, options: CampaignOptions): Promise<Finding[]> {
  const found = new Map<string, Found>();
  const isMissing = (oracle: Oracle) => ![...found.values()].some(({ fault }) => fault.oracle === oracle);
  const goesOn = () => found.size < maxFindings && (options.until.length === 0 || options.until.some(isMissing));
  const cases = drawCases(kinds, arena, options, goesOn);
  await Promise.all(
    Array.from({ length: options.concurrency }, async () => {
      for (const { kind, seed, path, play } of cases) {
        const { faults, requests } = await play();
        for (const fault of faults) {
          const sort = `${fault.oracle} ${fault.reason}`;
          const before = found.get(sort);
          if (before === undefined) found.set(sort, { fault, kind, seed, path, requests, count: 1 });
          else before.count += 1;
        }
      }
    }),
  );
  const findings: Finding[] = [];
  for (const one of found.values()) findings.push(await shrink(one, options.signal));
  return findings;
}

/** Plays one case of an earlier run again, and makes it smaller. */
export async function replay(kind: Kind, seed: number, path: string): Promise<Finding[]> {
  const shrunk = await kind.shrink(seed, path, shrinkTimeoutMs);
  return (shrunk?.exchanges.faults ?? []).map((fault) => ({
    ...fault,
    kind: kind.name,
    seed,
    path: shrunk?.path ?? path,
    count: 1,
    curl: (shrunk?.exchanges.requests ?? []).map(asCurl),
  }));
}

interface Found extends Pick<Exchanges, "requests"> {
  readonly fault: Fault;
  readonly kind: Kind;
  readonly seed: number;
  readonly path: string;
  count: number;
}

interface Case {
  readonly kind: Kind;
  readonly seed: number;
  readonly path: string;
  play(): Promise<Exchanges>;
}

/** Shared by all workers: each takes the next one. Ends when every API has had its requests. */
function* drawCases(
  kinds: readonly Kind[],
  { sent }: Arena,
  { seed, requests, apis, maxSeconds, signal, now }: CampaignOptions,
  goesOn: () => boolean,
): Generator<Case, void> {
  const endMs = now() + (maxSeconds ?? Number.POSITIVE_INFINITY) * 1_000;
  const isOpen = () => !signal.aborted && now() < endMs && goesOn();
  const wants = (api: ApiOf) => sent[api] < requests;
  for (let round = 0; isOpen() && apis.some(wants); round += 1) {
    for (const kind of kinds) {
      // Where one API has had its share, only the other is asked.
      if (!kind.apis.every((api) => apis.includes(api) && wants(api))) continue;
      for (const [index, play] of kind.draw(seed + round, casesPerRound).entries()) {
        if (!isOpen()) return;
        yield { kind, seed: seed + round, path: `${index}`, play };
      }
    }
  }
}

async function shrink({ fault, kind, seed, path, requests, count }: Found, signal: AbortSignal): Promise<Finding> {
  const first: Finding = { ...fault, kind: kind.name, seed, path, count, curl: requests.map(asCurl) };
  if (signal.aborted) return first;
  const shrunk = await kind.shrink(seed, path, shrinkTimeoutMs);
  // A smaller case may fail otherwise; then the first one is the better witness.
  const isSame = shrunk?.exchanges.faults.some(({ reason }) => reason === fault.reason);
  return shrunk && isSame ? { ...first, path: shrunk.path, curl: shrunk.exchanges.requests.map(asCurl) } : first;
}
