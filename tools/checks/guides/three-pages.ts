import type { StoreDatabase } from "@petstore/test-store/store-database";

/** Stores pets for three pages of 100, and returns their names in order. */
export async function storeThreePages(database: StoreDatabase): Promise<string[]> {
  await database.execute(
    "insert into pets (name, category_id, status) select 'pet ' || n, n, 'available' from generate_series(1, 250) n",
  );
  return Array.from({ length: 250 }, (_, index) => `pet ${index + 1}`);
}
