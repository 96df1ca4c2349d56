// A store in which clients create pets during a backup, and the checks of the restored store.
import { migrate } from "@petstore/core";
import { startService } from "@petstore/harness/processes";
import { openStoreDatabase } from "@petstore/test-store/store-database";
import { expect, vi } from "vitest";
import { rest } from "../faults/environment/apis.js";
import { createPet, openConnection, startCreates } from "../faults/environment/load.js";
import { isAcknowledged, type Result } from "../faults/environment/results.js";
import { environmentOf, type GuideOptions, runBlock, runServerBlock } from "./backup-commands.js";

interface Creates {
  readonly apiKey: string;
  /** In the order of the responses. The list grows until the clients stop. All of them are acknowledged. */
  readonly creates: readonly Result[];
}

type Action = (clients: Creates & { createMore(count: number): Promise<void> }) => Promise<void>;

/** Creates the database and its roles in a new server, and runs the action while clients create pets. */
export async function duringCreates(options: GuideOptions, action: Action): Promise<Creates> {
  await runServerBlock("private-folder", options);
  await runBlock("roles", options);
  const environment = environmentOf(options);
  await migrate(environment.DATABASE_OWNER_URL);
  await using database = openStoreDatabase(environment.DATABASE_URL);
  const { key: apiKey } = await database.issueKey();
  await using service = await startService({ main: rest.main, environment });
  const target = { origin: service.origin, api: rest };
  const { results: creates, stop } = startCreates({ apiKey, clients: 4, target: () => target });
  /** Waits for this many more creates. */
  async function createMore(count: number): Promise<void> {
    const expected = creates.length + count;
    await vi.waitUntil(() => creates.length >= expected, { timeout: 120_000 });
  }
  try {
    await action({ apiKey, creates, createMore });
  } finally {
    await stop();
  }
  expect(creates.filter((one) => !isAcknowledged(one))).toEqual([]);
  return { apiKey, creates };
}

/** Checks the store in a restored server. The first `kept` creates were acknowledged before the recovery point. */
export async function expectRestored(options: GuideOptions, { apiKey, creates }: Creates, kept: number): Promise<void> {
  const environment = environmentOf(options);
  await using database = openStoreDatabase(environment.DATABASE_URL);
  const stored = await database.countByName(creates.flatMap(({ acknowledgedPet }) => acknowledgedPet ?? []));
  const isLost = ({ acknowledgedPet = "" }: Result) => stored.get(acknowledgedPet) !== 1;
  const lost = creates.filter(isLost);
  process.stdout.write(`${creates.length} creates, ${kept} before the recovery point, ${lost.length} lost\n`);
  expect(creates.slice(0, kept).filter(isLost)).toEqual([]);
  // The account and its key.
  expect(await database.execute("select from audit_log")).toHaveLength(2);

  await using service = await startService({ main: rest.main, environment });
  const target = { origin: service.origin, api: rest };
  using connection = openConnection();
  const repeat = (one: Result | undefined) => createPet(connection, target, apiKey, one?.requestedPet);
  expect((await repeat(creates[0])).text).toBe(creates[0]?.text);
  const highestId = Math.max(...creates.map(idOf));
  expect(idOf(await createPet(connection, target, apiKey))).toBeGreaterThan(highestId);
  if (lost.length > 0) expect(idOf(await repeat(lost.at(-1)))).toBeGreaterThan(highestId);
}

/** NaN for a response without a pet. */
function idOf({ text }: Result): number {
  return Number(/"id":(\d+)/.exec(text)?.[1]);
}
