// The stored history. What the counters write is tested in packages/core.
import { query } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import { useDatabase } from "./run-command.js";

const { environment, json, petstore } = await useDatabase(
  "migrate",
  "account create shop --plan pro",
  "account create kennel",
  "account create idle",
  "key issue shop --name website",
  "key issue shop",
  "key issue kennel",
);

await query(
  environment.DATABASE_DIRECT_URL,
  `insert into usage_hours (key_id, hour, api, operation, admitted, refused)
   select key_id, date_trunc('hour', now(), 'UTC') - ago * interval '1 hour', api, operation, admitted, refused
   from (values
     (1, 0, 'rest', '', 10, 1),
     (1, 0, 'rest', 'getPet', 2, 0),
     (1, 0, 'graphql', '', 5, 0),
     (2, 1, 'rest', '', 3, 4),
     (2, 600, 'rest', 'getPet', 1, 0),
     (3, 0, 'rest', '', 19, 0),
     (3, 2, 'rest', 'getPet', 0, 7),
     (3, 9000, 'rest', 'getPet', 1, 0)
   ) as stored (key_id, ago, api, operation, admitted, refused)`,
);
const [present] = await query(
  environment.DATABASE_DIRECT_URL,
  "select extract(epoch from max(hour))::integer as seconds from usage_hours",
);

/** The start of the hour this many hours before the present one. */
function hourText(ago: number): string {
  return `${new Date((Number(present?.seconds) - ago * 3_600) * 1_000).toISOString().slice(0, 16)}Z`;
}

describe("petstore usage history", () => {
  it("shows the hours of an account, for each key and API, the oldest first", async () => {
    expect(await json("usage history shop --hours 2")).toEqual([
      { hour: hourText(1), key: "2", api: "rest", admitted: 3, refused: 4 },
      { hour: hourText(0), key: "1", name: "website", api: "graphql", admitted: 5, refused: 0 },
      { hour: hourText(0), key: "1", name: "website", api: "rest", admitted: 12, refused: 1 },
    ]);
    expect(await json("usage history shop --hours 1")).toHaveLength(2);
  });

  it("shows the days of a key, 30 by default", async () => {
    const days: { admitted: number }[] = await json("usage history --key 3");
    expect(days.reduce((sum, { admitted }) => sum + admitted, 0)).toBe(19);
    expect(days.at(-1)).toMatchObject({ day: hourText(0).slice(0, 10), key: "3", api: "rest" });
    expect(await json("usage history --key 3 --days 400")).toHaveLength(days.length + 1);
  });

  it("prints a table for people, and says so if there is nothing", async () => {
    const { printed } = await petstore("usage history shop --hours 2");
    expect(printed).toMatch(/^hour +key +name +api +admitted +refused\n20\S+Z +2 +- +rest +3 +4\n/);
    expect((await petstore("usage history idle")).printed).toBe("none");
  });
});

it("petstore usage top shows the busiest accounts first, and at most as many as asked for", async () => {
  expect(await json("usage top --hours 1")).toEqual([
    { account: "kennel", plan: "free", admitted: 19, refused: 0 },
    { account: "shop", plan: "pro", admitted: 17, refused: 1 },
  ]);
  expect(await json("usage top --hours 2 --limit 1")).toEqual([
    { account: "shop", plan: "pro", admitted: 20, refused: 5 },
  ]);
});

it("petstore usage deprecated shows who still calls GET /pets/{petId}, refused callers included, and when last", async () => {
  expect(await json("usage deprecated")).toEqual([
    { operation: "getPet", account: "shop", key: "1", name: "website", admitted: 2, refused: 0, lastHour: hourText(0) },
    { operation: "getPet", account: "kennel", key: "3", admitted: 0, refused: 7, lastHour: hourText(2) },
    { operation: "getPet", account: "shop", key: "2", admitted: 1, refused: 0, lastHour: hourText(600) },
  ]);
  expect(await json("usage deprecated --hours 1")).toHaveLength(1);
});

it.each(["history", "top", "deprecated"])("petstore usage %s --help says what is counted", async (command) => {
  const { exitCode, printed } = await petstore(`usage ${command} --help`);
  expect(exitCode).toBe(0);
  expect(printed).toContain('"refused" are requests that got 429');
});

it("petstore usage deprecated --help says how requests in a brownout appear", async () => {
  const { printed } = await petstore("usage deprecated --help");
  expect(printed).toMatch(/refused in a brownout is in neither number, but its\s+key is listed/);
});
