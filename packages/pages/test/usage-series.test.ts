import { describe, expect, it } from "vitest";
import {
  axisTicks,
  chartOf,
  periodText,
  rowsOf,
  shortText,
  tickText,
  total,
  type UsageHistory,
} from "../browser/usage-series.js";

const starts = {
  hours: ["2027-01-31T13:00:00Z", "2027-01-31T14:00:00Z"],
  days: ["2027-01-30", "2027-01-31"],
};
const presentKey = "pets_live_unused";
const none = { admitted: [0, 0], refused: [0, 0] };

function key(id: number, admitted: readonly number[], more: Partial<UsageHistory["series"][number]> = {}) {
  const hours = { admitted, refused: [0, 0] };
  return {
    key: { id: `${id}`, name: null, prefix: `pets_live_${id}` },
    api: "rest",
    hours,
    days: none,
    ...more,
  } as const;
}

describe("a chart", () => {
  it("has the sum of both APIs of each key, and the refusals of all keys", () => {
    const named = { id: "2", name: "website", prefix: "pets_live_2" };
    const history = {
      ...starts,
      series: [
        key(1, [1, 2]),
        key(2, [10, 0], { key: named }),
        key(2, [0, 5], { key: named, api: "graphql", hours: { admitted: [0, 5], refused: [0, 3] } }),
      ],
    };
    expect(chartOf(history, "hours", presentKey)).toEqual({
      starts: starts.hours,
      keys: [
        { label: "pets_live_1...", admitted: [1, 2] },
        { label: "website", admitted: [10, 5] },
      ],
      admitted: [11, 7],
      refused: [0, 3],
    });
    expect(total(chartOf(history, "days", presentKey).admitted)).toBe(0);
  });

  it("shows 6 keys apart, and of more keys the first 5 and the sum of the others", () => {
    const keysOf = (count: number) => ({
      ...starts,
      series: Array.from({ length: count }, (_, index) => key(index + 1, [index + 1, 0])),
    });
    expect(chartOf(keysOf(6), "hours", presentKey).keys).toHaveLength(6);
    const { keys, admitted } = chartOf(keysOf(12), "hours", presentKey);
    expect(keys.map(({ label, admitted: [first] }) => [label, first])).toEqual([
      ["pets_live_1...", 1],
      ["pets_live_2...", 2],
      ["pets_live_3...", 3],
      ["pets_live_4...", 4],
      ["pets_live_5...", 5],
      ["other keys", 6 + 7 + 8 + 9 + 10 + 11 + 12],
    ]);
    expect(admitted).toEqual([78, 0]);
  });

  it("adds the keys that the service does not list to the other keys", () => {
    const series = [...[1, 2, 3, 4, 5, 6].map((id) => key(id, [1, 0])), key(0, [4, 0], { key: null })];
    expect(chartOf({ ...starts, series }, "hours", presentKey).keys.at(-1)).toEqual({
      label: "other keys",
      admitted: [5, 0],
    });
  });

  it("tells keys with the same name apart by their prefix, or by their id if they have none", () => {
    const named = (id: string, prefix: string | null) => ({ key: { id, name: "website", prefix } });
    const labels = (series: UsageHistory["series"]) =>
      chartOf({ ...starts, series }, "hours", presentKey).keys.map(({ label }) => label);
    const rotated = [key(1, [1, 1], named("1", null)), key(4, [1, 1], named("4", "pets_live_4fTq9ZbX"))];
    expect(labels(rotated)).toEqual(["website, key 1", "website, pets_live_4fTq9ZbX"]);
    expect(labels(rotated.slice(1))).toEqual(["website"]);
  });

  it("marks the key of the page, in its legend and its table", () => {
    const named = (prefix: string) => ({ id: prefix, name: "website", prefix });
    const old = key(1, [1, 0], { key: named("pets_live_8Kw2LmPz") });
    const present = key(2, [2, 0], { key: named("pets_live_4fTq9ZbX") });
    const history = { ...starts, series: [old, key(3, [1, 0]), present] };
    const chart = chartOf(history, "hours", "pets_live_4fTq9ZbX0123456789");
    expect(chart.keys.map(({ label }) => label)).toEqual([
      "website, pets_live_8Kw2LmPz",
      "pets_live_3...",
      "website, pets_live_4fTq9ZbX (this key)",
    ]);
    expect(rowsOf(history, "hours", "pets_live_4fTq9ZbX0123456789").map((row) => row.key)).toEqual([
      "website, pets_live_8Kw2LmPz, REST",
      "pets_live_3..., REST",
      "website, pets_live_4fTq9ZbX (this key), REST",
    ]);
  });

  it("has a table with the numbers that are not 0, the newest first", () => {
    const graphql = { api: "graphql", hours: { admitted: [0, 4], refused: [6, 0] } } as const;
    expect(rowsOf({ ...starts, series: [key(1, [0, 2]), key(1, [], graphql)] }, "hours", presentKey)).toEqual([
      { start: starts.hours[1], key: "pets_live_1..., REST", admitted: 2, refused: 0 },
      { start: starts.hours[1], key: "pets_live_1..., GraphQL", admitted: 4, refused: 0 },
      { start: starts.hours[0], key: "pets_live_1..., GraphQL", admitted: 0, refused: 6 },
    ]);
  });
});

it.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 2, 4, 6, 8]],
  [20, [0, 5, 10, 15, 20]],
  [1_000, [0, 500, 1_000]],
  [123_456, [0, 50_000, 100_000, 150_000]],
])("an axis to %i has round lines", (most, ticks) => {
  expect(axisTicks(most)).toEqual(ticks);
});

it("names the period of a bar in UTC", () => {
  expect(periodText("2027-01-31T23:00:00Z", "hours")).toBe("23:00 to 24:00 UTC on January 31");
  expect(periodText("2027-01-31", "days")).toBe("January 31");
  expect(shortText("2027-01-31T23:00:00Z", "hours")).toBe("Jan 31, 23:00");
  expect(shortText("2027-01-31", "days")).toBe("Jan 31");
});

it("labels few bars on the axis of time, and fewer on a phone", () => {
  const hours = Array.from({ length: 48 }, (_, index) => new Date(Date.UTC(2027, 0, 30, index)).toISOString());
  const labels = (isNarrow: boolean) => hours.map((start) => tickText(start, "hours", isNarrow)).filter(Boolean);
  expect(labels(true)).toEqual(["Jan 30", "12:00", "Jan 31", "12:00"]);
  expect(labels(false)).toEqual(["Jan 30", "06:00", "12:00", "18:00", "Jan 31", "06:00", "12:00", "18:00"]);
  const days = Array.from({ length: 90 }, (_, index) =>
    new Date(Date.UTC(2027, 0, 1 + index)).toISOString().slice(0, 10),
  );
  const inDays = (isNarrow: boolean) => days.map((start) => tickText(start, "days", isNarrow)).filter(Boolean).length;
  expect([inDays(true), inDays(false)]).toEqual([3, 7]);
});
