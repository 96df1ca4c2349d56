import { createTestDatabase } from "@petstore/harness";
import { query } from "@petstore/harness/postgres";
import { expect, it } from "vitest";
import { migrate } from "../src/index.js";

it("schema.txt shows the result of the migrations", async () => {
  await using database = await createTestDatabase();
  await migrate(database.url);
  const lines = (await query(database.url, schemaQuery)).map(({ line }) => `${line}\n`);
  const text = `Generated from the migrations by \`npm run generate\`.\n\n${lines.join("")}`;
  await expect(text).toMatchFileSnapshot("../src/database/migrations/schema.txt");
});

/** So that a reviewer sees the effect of a migration as a diff. The migrations show functions in full. */
const schemaQuery = `
  select 'pet_status: ' || enum_range(null::pet_status)::text collate "C" as line
  union all
  select table_name || '.' || column_name || ' ' || udt_name
    || case when is_nullable = 'NO' then ' not null' else '' end
    || case when is_identity = 'YES' then ' identity' else '' end
    || coalesce(' default ' || column_default, '')
  from information_schema.columns where table_schema = 'public'
  union all
  select conrelid::regclass || ': ' || regexp_replace(pg_get_constraintdef(oid), '\\s+', ' ', 'g')
  from pg_constraint where connamespace = 'public'::regnamespace and contype in ('c', 'f')
  union all
  select indexdef from pg_indexes where schemaname = 'public'
  union all
  select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
  order by line`;
