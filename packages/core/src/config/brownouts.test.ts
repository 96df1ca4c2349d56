import { expect, it } from "vitest";
import { brownouts } from "./brownouts.js";

/** The start and the end of each brownout, or the messages about the setting. */
function read(text: string | undefined): string[] {
  const { data, error } = brownouts.safeParse(text);
  if (error !== undefined) return error.issues.map(({ message }) => message);
  return data.map(({ startMs, endMs }) => [startMs, endMs].map((ms) => new Date(ms).toISOString().slice(0, 19)).join());
}

it.each([
  [undefined, []],
  [" , ", []],
  ["2027-03-01T12:00:00Z/2027-03-01T12:30:01Z", ["2027-03-01T12:00:00,2027-03-01T12:30:01"]],
  // As the log shows it.
  ["2027-03-01T12:00:00.000Z/2027-03-01T12:30:00.000Z", ["2027-03-01T12:00:00,2027-03-01T12:30:00"]],
  ["2027-03-01T12:00Z/2027-03-01T12:01Z", ["2027-03-01T12:00:00,2027-03-01T12:01:00"]],
  ["2027-03-01T12:00:00Z/PT30M", ["2027-03-01T12:00:00,2027-03-01T12:30:00"]],
  ["2027-03-01T12:00:00Z/P0DT1H2M3S", ["2027-03-01T12:00:00,2027-03-01T13:02:03"]],
  // The longest one.
  ["2027-03-01T12:00:00Z/P1D", ["2027-03-01T12:00:00,2027-03-02T12:00:00"]],
  // The earliest and the latest one.
  ["2026-11-20T00:00:00Z/PT1S", ["2026-11-20T00:00:00,2026-11-20T00:00:01"]],
  ["2030-12-04T23:59:58Z/PT1S", ["2030-12-04T23:59:58,2030-12-04T23:59:59"]],
  // The shortest pause.
  [
    "2027-03-01T12:00:00Z/PT1M , 2027-03-01T12:01:01Z/PT1M",
    ["2027-03-01T12:00:00,2027-03-01T12:01:00", "2027-03-01T12:01:01,2027-03-01T12:02:01"],
  ],
])("reads %s as %j", (text, expected) => {
  expect(read(text)).toEqual(expected);
});

it.each([
  "tomorrow",
  "2027-03-01T12:00:00Z",
  "2027-03-01T12:00:00Z/",
  "2027-03-01T12:00:00Z/PT1H/PT1H",
  "PT1H/2027-03-01T12:00:00Z",
  "2027-03-01/2027-03-02",
  "2027-02-30T12:00:00Z/PT1H",
  "2027-03-01T24:00:00Z/PT1H",
  "2027-03-01T12:00:00/PT1H",
  "2027-03-01T12:00:00+01:00/PT1H",
  "2027-03-01T12:00:00.5Z/PT1H",
  ...["P", "PT", "P1DT", "P1M", "P1Y", "P1W", "PT1.5H", "-PT1H", "pt1h", "PT1M1H", "PT9999999S", "1H"].map(
    (duration) => `2027-03-01T12:00:00Z/${duration}`,
  ),
])("refuses what is no interval in UTC: %s", (text) => {
  expect(read(`2027-01-01T00:00:00Z/PT1H,${text}`)).toEqual([
    expect.stringMatching(/^must list intervals in UTC, such as .*: see interval 2$/),
  ]);
});

const backwards = "must have the start of each interval before its end: see interval 1";
const afterRemoval = "must end before the removal, 2030-12-05T00:00:00Z: see interval 1";
const unordered = "must list the intervals in order, with a pause between them: see interval 2";

it.each([
  ["2027-03-01T12:00:00Z/PT0S", backwards],
  ["2027-03-01T12:00:00Z/2027-03-01T11:59:59Z", backwards],
  ["2027-03-01T12:00:00Z/PT24H1S", "must have intervals of at most 24 hours: see interval 1"],
  [
    "2026-11-19T23:59:59Z/PT1H",
    "must not begin before the announced deprecation, 2026-11-20T00:00:00Z: see interval 1",
  ],
  ["2030-12-04T23:59:59Z/PT1S", afterRemoval],
  ["2030-12-05T00:00:00Z/PT1H", afterRemoval],
  ["2027-03-01T12:00:00Z/PT1H,2027-03-01T13:00:00Z/PT1H", unordered],
  ["2027-03-01T12:00:00Z/PT1H,2027-03-01T12:30:00Z/PT1H", unordered],
  ["2027-03-01T12:00:00Z/PT1H,2027-02-01T12:00:00Z/PT1H", unordered],
])("refuses %s: %s", (text, message) => {
  expect(read(text)).toEqual([message]);
});

it("reads 100 intervals, and refuses 101", () => {
  const starts = Array.from({ length: 101 }, (_, day) => new Date(Date.UTC(2027, 0, 1 + day)).toISOString());
  const intervals = starts.map((start) => start.replace(".000Z", "Z/PT1H"));
  expect(read(intervals.slice(0, 100).join())).toHaveLength(100);
  expect(read(intervals.join())).toEqual(["must list at most 100 intervals"]);
});
