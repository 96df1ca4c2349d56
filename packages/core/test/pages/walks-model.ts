/**
 * A model of walks while pets are created: three writers, one instance that observes the inserts and keeps pages, and two readers
 * of the instance. Every order of their steps is explored. PostgreSQL is simulated; the rules, `settle` and `isSafe`, are those
 * of the service. A page has one pet.
 *
 * - A writer takes the lock, draws an id, makes its pet visible or gives up, and releases the lock.
 * - An observation reads the last drawn id, then the open inserts, then the highest stored ids.
 * - A reader asks for a page, PostgreSQL answers, and the instance returns the page or waits and asks once more. A wait may end
 *   at any moment, in vain or not.
 * - Once, a standby takes the place of the primary. It may lack the newest pets, and draws ids again that it does not have.
 */
import { isSafe } from "../../src/pets/pages/pet-pages.js";
import { nothingSettled, type Settling, settle } from "../../src/pets/pages/settling.js";

/** Mistakes that the model must find. */
export const faults = [
  "locks after drawing the id",
  "releases the lock before the pet is visible",
  "reads the open inserts before the drawn id",
  "settles without waiting",
  "settles the drawn id instead of a stored one, and does not notice a failover",
  "compares the page with what was settled after its read",
  "keeps pages that are not settled",
  "hands out cursors of a last page that is not settled",
  "keeps the settled id over a failover",
  "keeps pages over a failover",
] as const;
export type Fault = (typeof faults)[number];

interface Writer {
  readonly phase: "idle" | "begun" | "drawn" | "released" | "ended";
  readonly isLocked: boolean;
  readonly id: number;
}

interface Reader {
  /** A walker ends at the last page. A follower continues from the end cursor of every page, even of the last one. */
  readonly kind: "walker" | "follower";
  readonly phase: "new" | "ready" | "asked" | "answered" | "waiting" | "done";
  /** The last cursor that it got; 0 at the start. */
  readonly cursor: number;
  /** The server on which the walk began. Its cursors promise nothing about another server that lacks pets. */
  readonly server: number;
  readonly hasWaited: boolean;
  readonly settledBefore: bigint | undefined;
  readonly epochBefore: number;
  /** The visible ids after the cursor, at most two. */
  readonly found: readonly number[];
}

interface Observation {
  readonly server: number;
  readonly drawn: number | undefined;
  readonly openInserts: readonly string[] | undefined;
}

interface State {
  readonly server: number;
  readonly drawn: number;
  readonly stored: readonly number[];
  readonly writers: readonly Writer[];
  /** The last server that the instance has noticed. */
  readonly epoch: number;
  readonly settling: Settling;
  readonly observation: Observation | undefined;
  /** Pairs of a cursor and the only pet of the kept page behind it. */
  readonly kept: readonly (readonly [cursor: number, id: number])[];
  readonly readers: readonly Reader[];
}

interface Step {
  readonly name: string;
  readonly state: State;
  /** The promise that the step breaks. */
  readonly broken?: string | undefined;
}

export interface Options {
  readonly writers: number;
  readonly readers: readonly Reader["kind"][];
  readonly hasFailover: boolean;
  readonly fault?: Fault;
}

const newReader = {
  phase: "new",
  cursor: 0,
  server: 0,
  hasWaited: false,
  settledBefore: undefined,
  epochBefore: 0,
  found: [],
} as const;

/** The first server is 0 if a failover can come, and then server 1 takes its place. */
const neverFails = 2;

function startOf({ writers, readers, hasFailover }: Options): State {
  return {
    server: hasFailover ? 0 : neverFails,
    drawn: 0,
    stored: [],
    writers: Array(writers).fill({ phase: "idle", isLocked: false, id: 0 }),
    epoch: hasFailover ? 0 : neverFails,
    settling: nothingSettled,
    observation: undefined,
    kept: [],
    readers: readers.map((kind) => ({ ...newReader, kind })),
  };
}

/** Visits every state, or stops at the first broken promise and returns the steps that led to it. */
export function explore(options: Options): { readonly states: number; readonly loss: readonly string[] } {
  const { fault } = options;
  const start = startOf(options);
  const seen = new Set([keyOf(start)]);
  const reached: { readonly state: State; readonly name: string; readonly from: number }[] = [];
  reached.push({ state: start, name: "start", from: -1 });
  for (let place = 0; place < reached.length; place += 1) {
    const { state } = reached[place] as (typeof reached)[number];
    for (const { name, state: next, broken } of stepsFrom(state, fault)) {
      if (broken !== undefined) {
        const loss = [name, broken];
        for (let at = reached[place]; at !== undefined; at = reached[at.from]) loss.unshift(at.name);
        return { states: seen.size, loss };
      }
      const key = keyOf(next);
      if (seen.has(key)) continue;
      seen.add(key);
      reached.push({ state: next, name, from: place });
    }
  }
  return { states: seen.size, loss: [] };
}

function stepsFrom(state: State, fault: Fault | undefined): Step[] {
  return [
    ...state.writers.flatMap((writer, place) => stepsOfWriter(state, writer, place, fault)),
    ...stepsOfObservation(state, fault),
    ...state.readers.flatMap((reader, place) => stepsOfReader(state, reader, place, fault)),
    ...failovers(state, fault),
  ];
}

function stepsOfWriter(state: State, writer: Writer, place: number, fault: Fault | undefined): Step[] {
  const to = (change: Partial<Writer>, others: Partial<State> = {}, broken?: string): Step => ({
    name: `writer ${place}: ${change.phase}, ${others.drawn ?? others.stored ?? ""}`,
    state: { ...state, ...others, writers: state.writers.with(place, { ...writer, ...change }) },
    broken,
  });
  // The id no longer matters.
  const ended = { phase: "ended", isLocked: false, id: 0 } as const;
  const id = state.drawn + 1;
  const hasBegun = state.writers.length < 3 || fault !== undefined;
  const isDrawnFirst = fault === "locks after drawing the id";
  switch (writer.phase) {
    case "idle":
      // Writers are equal, so it does not matter which of them begins first.
      if (place > 0 && state.writers[place - 1]?.phase === "idle") return [];
      if (!hasBegun) return [to({ phase: "drawn", isLocked: true, id }, { drawn: id })];
      return [isDrawnFirst ? to({ phase: "begun", id }, { drawn: id }) : to({ phase: "begun", isLocked: true })];
    case "begun":
      return [isDrawnFirst ? to({ phase: "drawn", isLocked: true }) : to({ phase: "drawn", id }, { drawn: id })];
    case "drawn":
      if (fault === "releases the lock before the pet is visible") return [to({ phase: "released", isLocked: false })];
      return [appear(), to(ended)];
    case "released":
      return [appear()];
    case "ended":
      return [];
  }

  function appear(): Step {
    const stored = [...state.stored, writer.id].sort((one, other) => one - other);
    const passed = state.readers.some(({ server, cursor }) => server === state.server && cursor >= writer.id);
    return to(ended, { stored }, passed ? `pet ${writer.id} appears before a cursor` : undefined);
  }
}

function stepsOfObservation(state: State, fault: Fault | undefined): Step[] {
  const { observation } = state;
  const openInserts = state.writers.flatMap(({ isLocked }, place) => (isLocked ? [`${state.server}:${place}`] : []));
  const isSwapped = fault === "reads the open inserts before the drawn id";
  if (observation === undefined) {
    const connected = notice(state, fault);
    const first = isSwapped ? { drawn: undefined, openInserts } : { drawn: state.drawn, openInserts: undefined };
    return [{ name: "observation begins", state: { ...connected, observation: { server: state.server, ...first } } }];
  }
  const discarded = { name: "observation fails", state: { ...state, observation: undefined } };
  // The connection is lost, or the instance has met another server meanwhile.
  if (observation.server !== state.server || observation.server !== state.epoch) {
    if (!fault?.includes("failover") || observation.server !== state.server) return [discarded];
  }
  const { drawn = state.drawn, openInserts: open = openInserts } = observation;
  const bounds = [...state.settling.marks.map((mark) => mark.drawn), BigInt(drawn)];
  const settlesDrawn = fault === "settles the drawn id instead of a stored one, and does not notice a failover";
  const stored = bounds.map((bound) =>
    settlesDrawn ? bound : BigInt(state.stored.findLast((id) => BigInt(id) <= bound) ?? 0),
  );
  const seen = { server: "", sequence: "", drawn: BigInt(drawn), openInserts: open, stored };
  const settling = settle(state.settling, seen, () => fault === "settles without waiting");
  return [
    {
      name: `observation: ${drawn} drawn, open: ${open}, settled: ${settling.settledId}`,
      state: { ...state, observation: undefined, settling },
    },
  ];
}

/** A new connection leads to the current server. */
function notice(state: State, fault: Fault | undefined): State {
  if (state.epoch === state.server) return state;
  if (fault === "keeps the settled id over a failover" || fault?.startsWith("settles the drawn id")) return state;
  return { ...state, epoch: state.server, settling: nothingSettled };
}

function stepsOfReader(state: State, before: Reader, place: number, fault: Fault | undefined): Step[] {
  // A walk begins with its first page.
  const reader = before.phase === "new" ? { ...before, server: state.server } : before;
  const to = (what: string, change: Partial<Reader>, others: State = state, broken?: string): Step => ({
    name: `${reader.kind}: ${what}`,
    state: { ...others, readers: others.readers.with(place, { ...reader, ...change }) },
    broken,
  });
  const ask = (hasWaited: boolean) =>
    to("asks", { phase: "asked", hasWaited, settledBefore: state.settling.settledId, epochBefore: state.epoch });
  const next = { phase: "ready", hasWaited: false, settledBefore: undefined, epochBefore: 0, found: [] } as const;

  /** The client gets a page with this pet, and continues after the pet. */
  function handOut(id: number, others: State): Step {
    const isPromised = reader.server === state.server;
    const lacks = state.stored.find((stored) => stored > reader.cursor && stored < id);
    const isLost = !state.stored.includes(id);
    const gap = lacks === undefined ? undefined : `the page up to pet ${id} lacks pet ${lacks}`;
    const broken = isLost ? `pet ${id} is of the old primary` : gap;
    return to(`gets pet ${id}`, { ...next, cursor: id }, others, isPromised ? broken : undefined);
  }

  const { cursor } = reader;
  switch (reader.phase) {
    case "new":
    case "ready": {
      const kept = state.kept.find(([before]) => before === cursor);
      return [kept === undefined ? ask(false) : handOut(kept[1], state)];
    }
    case "asked": {
      const found = state.stored.filter((id) => id > cursor).slice(0, 2);
      const answered = { ...reader, phase: "answered", found } as const;
      // What happens between the answer and its use matters only in a failover.
      return state.server === 1
        ? [judge(found, notice(state, fault))]
        : [to(`finds ${found}`, answered, notice(state, fault))];
    }
    case "waiting":
      return [ask(true)];
    case "answered":
      return [judge(reader.found, state)];
    case "done":
      // A new walk, after the failover.
      return reader.server === state.server ? [] : [to("begins again", newReader)];
  }

  function judge(found: readonly number[], state: State): Step {
    const [end = 0, following] = found;
    const isFollowed = following !== undefined;
    const isLater = fault === "compares the page with what was settled after its read";
    const settledBefore = isLater ? state.settling.settledId : reader.settledBefore;
    const settledId = state.epoch === reader.epochBefore ? settledBefore : undefined;
    const pageEnd = { isFollowed, end: BigInt(end), settledId };
    const isKept = isFollowed && (isSafe(pageEnd, "next") || fault === "keeps pages that are not settled");
    const isCurrent = state.epoch === reader.epochBefore && reader.server === state.server;
    const others = isKept && isCurrent ? { ...state, kept: withKept(state.kept, cursor, end) } : state;
    const isWalker = reader.kind === "walker";
    const handsOut = isWalker || fault === "hands out cursors of a last page that is not settled" ? "next" : "all";
    const lastPage = isWalker ? to("gets the last page", { ...next, phase: "done" }, others) : undefined;
    if (isSafe(pageEnd, handsOut)) {
      if (isFollowed || (!isWalker && end > 0)) return handOut(end, others);
      return lastPage ?? to("gets no pet", next, others);
    }
    if (!reader.hasWaited) return to("waits", { ...next, phase: "waiting" }, others);
    if (settledId === undefined) return to("gets 503", next, others);
    // A connection ends at the settled id. Its page has one pet, which is not settled.
    return lastPage ?? to("gets an empty page", next, others);
  }
}

function withKept(kept: State["kept"], cursor: number, id: number): State["kept"] {
  return [...kept.filter(([before]) => before !== cursor), [cursor, id] as const].sort(([one], [other]) => one - other);
}

function failovers(state: State, fault: Fault | undefined): Step[] {
  if (state.server > 0) return [];
  return Array.from({ length: state.stored.length + 1 }, (_, left) => {
    const stored = state.stored.slice(0, left);
    const kept = fault === "keeps pages over a failover" ? state.kept : [];
    const writers = state.writers.map(() => ({ phase: "idle", isLocked: false, id: 0 }) as const);
    const drawn = stored.at(-1) ?? 0;
    return {
      name: `failover to a standby with ${stored}`,
      // The listening connection is lost, and with it the kept pages. Every transaction has ended.
      state: { ...state, server: 1, stored, drawn, kept, writers },
    };
  });
}

/** Short, because there are many states. */
function keyOf({
  server,
  drawn,
  stored,
  writers: ofWriters,
  epoch,
  settling,
  observation,
  kept,
  readers,
}: State): string {
  return [
    server,
    drawn,
    stored.join(""),
    ofWriters.map(({ phase, isLocked, id }) => `${phase[0]}${isLocked ? "l" : ""}${id}`).join(),
    epoch,
    settling.settledId,
    settling.marks.map((mark) => `${mark.drawn}${mark.waitsFor}`).join("/"),
    observation && `${observation.server}${observation.drawn}${observation.openInserts}`,
    kept.join(),
    readers
      .map((reader) => {
        const { phase, cursor, hasWaited, settledBefore, epochBefore, found } = reader;
        return `${phase[0]}${phase[2]}${cursor}${reader.server}${hasWaited ? "w" : ""}${settledBefore}${epochBefore}${found}`;
      })
      .join(" "),
  ].join(";");
}
