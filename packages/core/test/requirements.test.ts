import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { everyStatement } from "../src/requirements/every-statement.js";
import { listRequirements, onOneLine, requirements } from "../src/requirements/requirements.js";
import { openSharedDatabase } from "./database-fixture.js";

const sources = fileURLToPath(new URL("../src", import.meta.url));

/** What every SQL database has that calls itself compatible with PostgreSQL. */
const common = new Set(
  (
    "select from where and or not is null in exists if distinct as on inner left join union all order by desc limit " +
    "insert into values update set delete case when then else end true false " +
    "create alter table type index function execute add column constraint primary key unique check default " +
    "bigint integer text varchar bytea boolean date timestamptz uuid " +
    "group using count sum max coalesce least length"
  ).split(" "),
);

/** Names of ours that are also words of PostgreSQL. */
const ours = new Set(
  "name key plan action at scope prefix old new details server sequence stored logged hour start".split(" "),
);

describe("the list of what the statements need", async () => {
  const { execute } = await openSharedDatabase();
  const words = await execute<{ word: string }>(`
    select word from pg_get_keywords()
    union select typname from pg_type where typnamespace = 'pg_catalog'::regnamespace
    union select relname from pg_class where relnamespace = 'pg_catalog'::regnamespace
    union select proname || '(' from pg_proc where pronamespace = 'pg_catalog'::regnamespace`);
  const vocabulary = new Set(words.map(({ word }) => word));

  /** The keywords, functions, types and system tables of PostgreSQL that no requirement and no common word covers. */
  function uncovered(sql: string): string[] {
    const line = onOneLine(sql);
    const rest = [...line];
    for (const { pattern } of requirements) {
      for (const { 0: match, index } of line.matchAll(pattern)) rest.fill(" ", index, index + match.length);
    }
    const withoutNames = rest.join("").replaceAll(/'[^']*'|"[^"]*"/g, " ");
    const found = [...withoutNames.matchAll(/[a-z_]\w*(?: ?\()?/g)].flatMap(([text]) => {
      const word = text.replace(/ ?\($/, "");
      return common.has(word) || ours.has(word) ? [] : [word, text.replace(" ", "")];
    });
    return [...new Set(found)].filter((word) => vocabulary.has(word));
  }

  it("covers each keyword, function, type and system table of PostgreSQL in every statement and migration", async () => {
    const lacking = (await everyStatement()).map(({ name, text }) => ({ name, words: uncovered(text) }));
    expect(lacking.filter(({ words }) => words.length > 0)).toEqual([]);
  });

  it.each([
    ["select id from pets for share nowait", ["for", "share", "nowait"]],
    ["select * from pets, lateral (select 1) one", ["lateral"]],
    ["select pg_advisory_lock(1)", ["pg_advisory_lock("]],
    ["select id::text from pg_prepared_xacts", ["pg_prepared_xacts"]],
    ["insert into pets (name) values ('for share') -- lateral", []],
  ])("would report what it lacks: %s", (sql, words) => {
    expect(uncovered(sql)).toEqual(words);
  });

  it("has every prepared statement of the sources", async () => {
    const named = (await sourceFiles()).flatMap(({ text }) =>
      [...text.matchAll(/\b(?:statement(?:<[^()]*>)?\(\s*"(?:read|write)",|sweepStatement\()\s*"([^"]+)"/g)].map(
        ([, name]) => name,
      ),
    );
    expect(named.length).toBeGreaterThan(10);
    const listed = new Set((await everyStatement()).map(({ name }) => name));
    expect(named.filter((name) => name === undefined || !listed.has(name))).toEqual([]);
  });

  it("knows every file that sends statements in another way", async () => {
    const senders = (await sourceFiles()).filter(({ text }) =>
      /\bsendQuery[<(]|\.execute\(db\)|\brunUnprepared</.test(text),
    );
    expect(senders.map(({ name }) => name).sort()).toEqual([
      "access/account-repository.ts",
      "access/audit-log.ts",
      "access/key-repository.ts",
      "changes/subscribe-to-changes.ts",
      "database/connection-pool.ts",
      "database/connection.ts",
      "database/migrate.ts",
      "database/migrations/concurrent-index.ts",
      "database/pipelined-reads.ts",
      "database/reachability.ts",
      "database/run-unprepared.ts",
      "usage/usage-reports.ts",
    ]);
  });

  it("names for each requirement the statements that show it, and says so where none does", async () => {
    const found = new Map((await listRequirements()).map(({ name, neededBy }) => [name, neededBy]));
    for (const { name } of requirements) expect(found.get(name), name).not.toEqual([]);
    expect(found.get("NOTIFY inside a trigger")).toEqual([
      "migration 0002-keys-that-change",
      "migration 0005-settled-pages",
    ]);
    expect(found.get("indexes that are built and dropped concurrently, and their validity")).toEqual([
      "migration 0008-pets-of-idempotency-keys",
    ]);
    expect(found.get("common table expressions that change rows")).toEqual(
      expect.arrayContaining(["insert-pet-once", "accounts create", "keys revoke"]),
    );
    expect(found.get("row locks with skip locked")).toEqual([
      "delete-forgotten-idempotency-keys",
      "write-last-use",
      "delete-old-usage-hours",
      "delete-old-usage-writers",
    ]);
    expect(found.get("ids in about the order of the commits")).toEqual([]);
  });
});

async function sourceFiles(): Promise<{ readonly name: string; readonly text: string }[]> {
  const names = (await readdir(sources, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(sources, name), "utf8") })));
}
