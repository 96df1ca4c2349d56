// A store that clients create pets in during a backup, and the checks of the restored store.
import { openHttpClient } from "@petstore/harness/network";
import { openSession } from "@petstore/harness/postgres";
import { runCommands, startService } from "@petstore/harness/processes";
import { expect } from "vitest";
import { environmentOf, type GuideOptions, runBlock } from "./backup-commands.js";

/** The clients of a store, and their knowledge of it. */
interface Clients {
  readonly apiKey: string;
  /** The creates that were answered with 201, in the order of the responses. The list grows until the clients stop. */
  readonly creates: readonly Create[];
  /** Waits for this many more creates. */
  createMore(count: number): Promise<void>;
}

interface Create {
  readonly idempotencyKey: string;
  readonly id: number;
}

/** Creates the database and its roles in a new server, and runs the action while clients create pets. */
export async function duringCreates(
  options: GuideOptions,
  action: (clients: Clients) => Promise<void>,
): Promise<Pick<Clients, "apiKey" | "creates">> {
  await runBlock("roles", options);
  const environment = environmentOf(options);
  await runPetstore("migrate", { ...environment, DATABASE_URL: environment.DATABASE_OWNER_URL });
  await runPetstore("account create shop --plan enterprise --per-minute 1000000 --per-day 1000000", environment);
  const { key } = JSON.parse(await runPetstore("key issue shop --json", environment)) as { readonly key: string };
  await using service = await startService({ environment });
  const creates: Create[] = [];
  let isOver = false;
  const working = Array.from({ length: 4 }, async (_, client) => {
    for (let number = 0; !isOver; number += 1) {
      const idempotencyKey = `create-${client}-${number}`;
      const { status, id } = await createPet(service.origin, key, idempotencyKey);
      expect(status).toBe(201);
      creates.push({ idempotencyKey, id });
    }
  });
  try {
    const createMore = async (count: number) => {
      const expected = creates.length + count;
      await expect.poll(() => creates.length, { timeout: 120_000 }).toBeGreaterThanOrEqual(expected);
    };
    await action({ apiKey: key, creates, createMore });
  } finally {
    isOver = true;
    await Promise.all(working);
  }
  return { apiKey: key, creates };
}

/** Checks the store in a restored server. The first `kept` creates were acknowledged before the recovery point. */
export async function expectRestored(
  options: GuideOptions,
  { apiKey, creates }: Pick<Clients, "apiKey" | "creates">,
  kept: number,
): Promise<void> {
  const environment = environmentOf(options);
  await using session = await openSession(environment.DATABASE_OWNER_URL);
  const rows = await session.query("select id, name from pets");
  const stored = new Map(rows.map(({ id, name }) => [Number(id), name]));
  const lost = creates.filter(({ id, idempotencyKey }) => stored.get(id) !== idempotencyKey);
  process.stdout.write(`${creates.length} creates, ${kept} before the recovery point, ${lost.length} lost\n`);
  const keptKeys = new Set(creates.slice(0, kept).map(({ idempotencyKey }) => idempotencyKey));
  expect(lost.filter(({ idempotencyKey }) => keptKeys.has(idempotencyKey))).toEqual([]);

  const doctor = await runPetstore("doctor", environment);
  expect(doctor).toMatch(/^ok +database role: petstore_service reads and writes rows/m);
  expect(doctor).toMatch(/^ok +schema: current/m);
  expect(await runPetstore("audit", environment)).toMatch(
    /account create.*\n?.*key issue|key issue.*\n?.*account create/s,
  );
  expect(await runPetstore("account list", environment)).toContain("shop");

  await using service = await startService({ environment });
  const [first] = creates;
  const repeated = await createPet(service.origin, apiKey, first?.idempotencyKey ?? "");
  expect(repeated).toEqual({ status: 201, id: first?.id, isReplay: true });
  const highest = Math.max(...creates.map(({ id }) => id));
  const next = await createPet(service.origin, apiKey, "create-after-restore");
  expect(next).toEqual({ status: 201, id: expect.any(Number), isReplay: false });
  expect(next.id).toBeGreaterThan(highest);
  const forgotten = lost.at(-1);
  if (forgotten !== undefined) {
    const again = await createPet(service.origin, apiKey, forgotten.idempotencyKey);
    expect(again).toMatchObject({ status: 201, isReplay: false });
  }
}

/** The key is also the name of the pet. */
async function createPet(origin: string, apiKey: string, idempotencyKey: string) {
  using client = openHttpClient(origin);
  const { status, headers, json } = await client.send("POST", "/v1/pets", {
    key: apiKey,
    headers: { "idempotency-key": idempotencyKey },
    body: JSON.stringify({ name: idempotencyKey, categoryId: 1 }),
  });
  const { id } = json as { readonly id: number };
  return { status, id, isReplay: "idempotency-replayed" in headers };
}

/** Runs the program itself: npx takes seconds to find it. */
function runPetstore(words: string, env: Readonly<Record<string, string>>): Promise<string> {
  return runCommands(`node tools/admin/dist/main.js ${words}`, env);
}
