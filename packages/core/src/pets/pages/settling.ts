/**
 * Says which ids are settled: each is stored, or never will be. An id is drawn before its insert commits, so a pet can appear
 * below a pet that is already visible. A page that ends at a settled id loses no such pet.
 *
 * Every insert holds a lock from before it draws an id until its transaction ends (the migration `0005-settled-pages`). An
 * observation reads the last drawn id first, and then the open inserts, which are the holders of the lock. It leaves a mark:
 *
 * - waiting: some of these inserts are open. One of them may store a pet with an id up to that of the mark.
 * - settled: all of these inserts have ended or are ignored. Inserts that began later have drawn greater ids. Therefore
 *   every id up to that of the mark is settled.
 *
 * The settled id is the highest stored id up to the newest settled mark. The drawn id itself would not do: after a failover,
 * PostgreSQL draws ids again that no transaction had stored.
 */

/** What the function `observe_pet_inserts` of the database returns. */
export interface Observation {
  /** Changes if the server restarts, or if another server takes its place. */
  readonly server: string;
  /** Changes if the sequence of the ids begins again, or is another one. */
  readonly sequence: string;
  /** The last id that was drawn; 0 before the first. */
  readonly drawn: bigint;
  /** The transactions with an insert that were open after `drawn` was read. */
  readonly openInserts: readonly string[];
  /** The highest stored id up to each mark of the state before, and up to `drawn`. */
  readonly stored: readonly bigint[];
}

export interface Settling {
  /** The last observation came from this sequence. */
  readonly sequence: string;
  /** `undefined` until the first mark is settled. */
  readonly settledId: bigint | undefined;
  /** The waiting marks, oldest first. */
  readonly marks: readonly Mark[];
}

interface Mark {
  readonly drawn: bigint;
  /** The open inserts of its observation that have not ended since. */
  readonly waitsFor: readonly string[];
}

export const nothingSettled: Settling = { sequence: "", settledId: undefined, marks: [] };

/** Enough for seconds behind an insert that stays open. More marks would only make observations slower. */
const maxMarks = 64;

/** True if ids up to the settled id may be drawn again: the sequence began again (truncate, restore), or was set back. */
export function startsOver({ sequence, settledId }: Settling, seen: Observation): boolean {
  return settledId !== undefined && (seen.sequence !== sequence || seen.drawn < settledId);
}

/** The state after an observation whose bounds were the marks of `before`. `isIgnored` names inserts that no mark waits for. */
export function settle(before: Settling, seen: Observation, isIgnored: (insert: string) => boolean): Settling {
  const isOtherSequence = before.sequence !== seen.sequence || startsOver(before, seen);
  const { settledId, marks: earlier } = isOtherSequence ? nothingSettled : before;
  const waiting = earlier.map(({ drawn, waitsFor }) => ({
    drawn,
    // A transaction loses its process id when it is prepared. Each mark waits for all prepared transactions.
    waitsFor: seen.openInserts.filter((insert) => waitsFor.includes(insert) || isPrepared(insert)),
  }));
  const marks = [...waiting, { drawn: seen.drawn, waitsFor: seen.openInserts }];
  const newestSettled = marks.findLastIndex(({ waitsFor }) => waitsFor.every(isIgnored));
  if (newestSettled < 0) return { sequence: seen.sequence, settledId, marks: needed(marks) };
  // Without the earlier marks, only the last of the stored ids counts.
  const stored = seen.stored.slice(-marks.length)[newestSettled] ?? 0n;
  return {
    sequence: seen.sequence,
    settledId: settledId !== undefined && settledId > stored ? settledId : stored,
    marks: needed(marks.slice(newestSettled + 1)),
  };
}

/** Leaves out the last mark if it cannot settle anything that the mark before it does not settle earlier. */
function needed(marks: readonly Mark[]): readonly Mark[] {
  const [last, previous] = [marks.at(-1), marks.at(-2)];
  const isUseless = marks.length > maxMarks || (previous !== undefined && last?.drawn === previous.drawn);
  return isUseless ? marks.slice(0, -1) : marks;
}

function isPrepared(insert: string): boolean {
  return insert.startsWith("prepared ");
}
