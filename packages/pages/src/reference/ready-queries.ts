/** A prepared request. `fill` holds values by field name. All other fields are cleared. */
export interface ReadyQuery {
  readonly label: string;
  readonly fill: Readonly<Record<string, string>>;
  readonly withoutKey?: true;
}

/** By the id of the operation. */
export const readyQueries: Readonly<Record<string, readonly ReadyQuery[]>> = {
  listPets: [
    { label: "First two available pets", fill: { limit: "2", status: "available" } },
    { label: "All pets, 100 per page", fill: { limit: "100" } },
    { label: "Limit 0 (400)", fill: { limit: "0" } },
    { label: "Without a key (401)", fill: {}, withoutKey: true },
  ],
  createPet: [
    { label: "Rex", fill: { body: body('"Rex"', "7") } },
    { label: "An identifier beyond 2^53", fill: { body: body('"Ada"', "9007199254740993") } },
    { label: "With an Idempotency-Key", fill: { body: body('"Ina"', "3"), "Idempotency-Key": "try-me-once" } },
    { label: "Without a name (400)", fill: { body: '{\n  "categoryId": 7\n}' } },
  ],
  getRateLimit: [
    { label: "What is left", fill: {} },
    { label: "Without a key (401)", fill: {}, withoutKey: true },
  ],
  getPet: [
    { label: "The first pet", fill: { petId: "1" } },
    { label: "An unknown pet (404)", fill: { petId: "9223372036854775807" } },
  ],
};

function body(name: string, categoryId: string): string {
  return `{\n  "name": ${name},\n  "categoryId": ${categoryId},\n  "status": "available"\n}`;
}
