// Which address counts. packages/core/test/quota tests the rules of windows and bans, and
// tools/checks/conformance/contract the limit of an address, the codes and headers of refusals, and preflight requests.
import { expect, it } from "vitest";
import { type CallOptions, openSharedStore, openTestStore, type TestStore } from "./test-store.js";

const store = await openSharedStore({ TRUST_PROXY: "127.0.0.0/8, 10.1.0.0/16" });

/** The address that a request with these headers is counted by. Its log line has this address. */
async function addressOf(
  headers: NonNullable<CallOptions["headers"]>,
  { call, lineOf }: TestStore = store,
): Promise<unknown> {
  return (await lineOf(await call("GET", "/v1/pets", { headers }))).clientAddress;
}

it.each([
  ["may begin with addresses that the client invents", "1.2.3.4, 203.0.113.5", "203.0.113.5"],
  ["may end with trusted proxies", "203.0.113.6, 10.1.2.3", "203.0.113.6"],
  ["may not end with other proxies", "203.0.113.7, 10.2.2.3", "10.2.2.3"],
  ["is one list if it is sent twice", ["1.2.3.4", "203.0.113.8"], "203.0.113.8"],
  ["may have a port", "203.0.113.9:4711", "203.0.113.9"],
  ["may have brackets", "[2001:db8::1]", "2001:db8::1"],
  ["may have brackets and a port", "1.2.3.4, [2001:db8::1]:443", "2001:db8::1"],
  ["may end with trusted proxies with ports", "1.2.3.4:1, 203.0.113.6:2,10.1.2.3:65535", "203.0.113.6"],
  ["may not end with other proxies with ports", "203.0.113.7:1, 10.2.2.3:2", "10.2.2.3"],
  ...["unknown", "203.0.113.9:http", "_hidden", "[2001:db8::1", "[2001:db8::1]443", "''", "999.1.1.1:1", "[]:1"].map(
    (last): [string, string, string] => ["names the proxy itself if its last entry is no address", last, "127.0.0.1"],
  ),
])("X-Forwarded-For behind a trusted proxy %s (%s): %s", async (_rule, forwarded, address) => {
  expect(await addressOf({ "X-Forwarded-For": forwarded })).toBe(address);
});

it.each([{}, { TRUST_PROXY: "10.0.0.0/8,fd00::/8" }])(
  "X-Forwarded-For is ignored unless it is from a trusted proxy: %j",
  async (environment) => {
    await using untrusting = await openTestStore(environment);
    for (const forwarded of ["203.0.113.1", "203.0.113.1:4711", "[2001:db8::1]:443"]) {
      expect(await addressOf({ "X-Forwarded-For": forwarded }, untrusting)).toBe("127.0.0.1");
    }
  },
);

it.each(["Forwarded", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP"])(
  "X-Forwarded-For is not replaced by %s",
  async (name) => {
    expect(await addressOf({ [name]: "for=203.0.113.10" })).toBe("127.0.0.1");
  },
);
