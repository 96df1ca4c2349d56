import { describe, expect, it } from "vitest";
import { readSentinelUrl } from "./sentinel-url.js";

const plain = { username: "", password: "", isTls: false };

describe("the URL of a Redis behind sentinels", () => {
  it.each([
    [
      "redis+sentinel://one:26379,two:26380,10.0.0.3:5000/petstore",
      {
        ...plain,
        name: "petstore",
        sentinels: [
          { host: "one", port: 26379 },
          { host: "two", port: 26380 },
          { host: "10.0.0.3", port: 5000 },
        ],
      },
    ],
    ["redis+sentinel://one/my.master-1", { ...plain, name: "my.master-1", sentinels: [{ host: "one", port: 26379 }] }],
    [
      "redis+sentinel://[::1]:26379,[fe80::2]/m",
      {
        ...plain,
        name: "m",
        sentinels: [
          { host: "::1", port: 26379 },
          { host: "fe80::2", port: 26379 },
        ],
      },
    ],
    [
      "rediss+sentinel://store:p%40s%2Fs%2Cw@one:1,two:65535/m",
      {
        username: "store",
        password: "p@s/s,w",
        isTls: true,
        name: "m",
        sentinels: [
          { host: "one", port: 1 },
          { host: "two", port: 65535 },
        ],
      },
    ],
    [
      "redis+sentinel://:se:cr@et@one/m",
      { ...plain, password: "se:cr@et", name: "m", sentinels: [{ host: "one", port: 26379 }] },
    ],
  ])("is read: %s", (text, expected) => {
    expect(readSentinelUrl(text)).toEqual(expected);
  });

  it.each([
    ["redis+sentinel://one:1,two:2", "must name the Redis"],
    ["redis+sentinel://one:1,two:2/", "must name the Redis"],
    ["redis+sentinel://one:1/m/0", "must name the Redis"],
    ["redis+sentinel://one:1/m?db=1", "must name the Redis"],
    ["redis+sentinel://one:1/%zz", "must name the Redis"],
    ["redis+sentinel://one:1,two:2,One:1/m", "must name each sentinel once"],
    ["redis+sentinel://one,one:26379/m", "must name each sentinel once"],
    ["redis+sentinel:///m", "must name a host"],
    ["redis+sentinel://one:1,,two:2/m", "must name a host"],
    ["redis+sentinel://one:1,/m", "must name a host"],
    ["redis+sentinel://:26379/m", "must name a host"],
    ["redis+sentinel://user:secret@/m", "must name a host"],
    ["redis+sentinel://o ne/m", "must name a host"],
    ["redis+sentinel://one:0/m", "must give each sentinel"],
    ["redis+sentinel://one:65536/m", "must give each sentinel"],
    ["redis+sentinel://one:port/m", "must give each sentinel"],
    ["redis+sentinel://one:/m", "must give each sentinel"],
    ["redis+sentinel://one:1,two:-2/m", "must give each sentinel"],
    ["redis+sentinel://:%zz@one/m", "must percent-encode"],
  ])("is refused, and not shown: %s", (text, beginning) => {
    const read = readSentinelUrl(text);
    const fault = "fault" in read ? read.fault : "";
    expect(fault.startsWith(beginning)).toBe(true);
    expect(fault).not.toMatch(/secret|one|two/);
  });
});
