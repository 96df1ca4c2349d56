import { describe, expect, it } from "vitest";
import { readSentinelUrl } from "./sentinel-url.js";

const plain = { username: "", password: "", isTls: false };
const login = { username: "store", password: "p@s/s,w" };

describe("the URL of a Redis behind sentinels", () => {
  it.each([
    ["redis+sentinel://one:1,two:65535/m", plain, ["one 1", "two 65535"]],
    ["redis+sentinel://one/m", plain, ["one 26379"]],
    ["redis+sentinel://[::1]:5000,[fe80::2]/m", plain, ["::1 5000", "fe80::2 26379"]],
    ["rediss+sentinel://store:p%40s%2Fs%2Cw@one:1/m", { ...login, isTls: true }, ["one 1"]],
    ["redis+sentinel://:se:cr@et@one:1/m", { ...plain, password: "se:cr@et" }, ["one 1"]],
  ])("is read: %s", (text, expected, addresses) => {
    const read = readSentinelUrl(text);
    const sentinels = read?.sentinels.map(({ host, port }) => `${host} ${port}`);
    expect({ ...read, sentinels }).toEqual({ ...expected, name: "m", sentinels: addresses });
  });

  it.each([
    "redis://one:1/m",
    "redis+sentinel://one:1,two:2",
    "redis+sentinel://one:1/m/0",
    "redis+sentinel://one:1,,two:2/m",
    "redis+sentinel://o ne/m",
    "redis+sentinel://one:65536/m",
    "redis+sentinel://user:1?secret@one/m",
  ])("is refused: %s", (text) => {
    expect(readSentinelUrl(text)).toBeUndefined();
  });
});
