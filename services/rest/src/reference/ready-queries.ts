import type { Operation } from "../openapi/operations.js";

/** A request one press away: what goes into the fields, by name; fields that are not named are emptied. */
export interface ReadyQuery {
  readonly label: string;
  readonly fill: Readonly<Record<string, string>>;
  readonly withoutKey?: true;
}

export const readyQueries: Readonly<Record<Operation["id"], readonly ReadyQuery[]>> = {
  listPets: [
    { label: "First two available", fill: { limit: "2", status: "available" } },
    { label: "Everything, 100 a page", fill: { limit: "100" } },
    { label: "A limit of 0: 400", fill: { limit: "0" } },
    { label: "Without a key: 401", fill: {}, withoutKey: true },
  ],
  createPet: [
    { label: "Rex", fill: { body: body('"Rex"', "7") } },
    { label: "An identifier beyond 2^53", fill: { body: body('"Ada"', "9007199254740993") } },
    { label: "Once, however often sent", fill: { body: body('"Ina"', "3"), "Idempotency-Key": "try-me-once" } },
    { label: "No name: 400", fill: { body: '{\n  "categoryId": 7\n}' } },
  ],
  getPet: [
    { label: "The first animal", fill: { petId: "1" } },
    { label: "One that is not there: 404", fill: { petId: "9223372036854775807" } },
  ],
};

function body(name: string, categoryId: string): string {
  return `{\n  "name": ${name},\n  "categoryId": ${categoryId},\n  "status": "available"\n}`;
}
