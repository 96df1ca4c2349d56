import type { ShownPet } from "./pet-ledger.js";
import { ask } from "./properties.js";
import type { ApiName } from "./response-faults.js";
import type { Session } from "./session.js";

/** More than the longest page, so that the first pages of each status stay as they are while pets are added. */
const petsPerStatus = 130;
const statuses = ["available", "pending", "sold"] as const;

/** Adds the first pets. Returns cursors that continue lists after them, with and without a status. */
export async function addFirstPets(session: Session): Promise<readonly string[]> {
  const cursors: string[] = [];
  await session.run(async (testCase) => {
    for (let index = 0; index < petsPerStatus * statuses.length; index += 1) {
      const newPet = JSON.stringify({
        name: `pet ${index}`,
        categoryId: index,
        status: statuses[index % statuses.length],
      });
      await ask(session, testCase, "rest", { kind: "create", newPet, idempotencyKey: undefined });
    }
    for (const status of [undefined, ...statuses]) {
      for (const limit of ["1", "2", "3"]) {
        const query = { limit, ...(status !== undefined && { status: JSON.stringify(status) }) };
        const { outcome } = await ask(session, testCase, "rest", { kind: "list", query, isConnection: false });
        if (outcome.kind === "failure" || outcome.nextCursor === undefined)
          testCase.addFault("list: there is no next page");
        else cursors.push(outcome.nextCursor);
      }
    }
  });
  return cursors;
}

/** The whole list of an API, page by page. */
export async function listAll(session: Session, api: ApiName): Promise<readonly ShownPet[]> {
  const pets: ShownPet[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: "100", ...(cursor !== undefined && { cursor: JSON.stringify(cursor) }) };
    await session.run(async (testCase) => {
      const { outcome } = await ask(session, testCase, api, { kind: "list", query, isConnection: true });
      if (outcome.kind === "failure") return testCase.addFault(`list: it ends with ${outcome.code}`);
      pets.push(...outcome.pets);
      cursor = outcome.nextCursor;
    });
  } while (cursor !== undefined);
  return pets;
}
