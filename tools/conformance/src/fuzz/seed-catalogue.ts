import type { Arena } from "./arena.js";
import { apisOf } from "./play-twin.js";

/** More than the longest page, so that what is listed from the beginning stays what it is while pets are added. */
const petsPerStatus = 130;
const statuses = ["available", "pending", "sold"] as const;

/** Fills the catalogue, and learns cursors that continue its lists: after the first pets, with and without a filter. */
export async function seedCatalogue(arena: Arena): Promise<readonly string[]> {
  const exchanges = arena.begin();
  const { rest } = apisOf(arena, exchanges);
  const caller = { authorization: [`Bearer ${arena.key}`], address: "2001:db8::1" };
  for (let index = 0; index < petsPerStatus * statuses.length; index += 1) {
    const input = JSON.stringify({
      name: `pet ${index}`,
      categoryId: index,
      status: statuses[index % statuses.length],
    });
    await rest.send({ operation: { kind: "create", input }, ...caller });
  }
  const cursors: string[] = [];
  for (const status of [undefined, ...statuses]) {
    for (const limit of ["1", "2", "3"]) {
      const query = { limit, ...(status !== undefined && { status: JSON.stringify(status) }) };
      const answer = await rest.send({ operation: { kind: "list", query }, ...caller });
      const cursor = answer?.outcome.kind === "success" ? answer.outcome.nextCursor : undefined;
      if (typeof cursor !== "string") throw new Error("REST names no next page of a list that has one");
      cursors.push(cursor);
    }
  }
  const [fault] = exchanges.faults;
  if (fault !== undefined) throw new Error(`filling the catalogue: ${fault.oracle}: ${fault.reason}`);
  return cursors;
}
