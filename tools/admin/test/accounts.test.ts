// Tests the output of the account commands. packages/core tests their changes, and running.test.ts creates
// an account with its own numbers.
import { hostname, userInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { useDatabase } from "./run-command.js";

const { json, petstore } = await useDatabase("migrate", "account create shop");

describe("petstore account", () => {
  it("creates an account on the Free plan unless another is named, and lists both", async () => {
    const clinic = await json("account create clinic --plan business");
    expect(clinic).toMatchObject({ id: "2", name: "clinic", plan: "business", perMinute: 1_000, perDay: 100_000 });
    const shop = expect.objectContaining({ id: "1", name: "shop", plan: "free", perMinute: 60, perDay: 1_000 });
    expect(await json("account list")).toEqual([shop, clinic]);
  });

  it("set-plan changes the plan and the agreed limits", async () => {
    await petstore("account create kennel");
    expect(await json("account set-plan kennel pro")).toMatchObject({ name: "kennel", plan: "pro", perMinute: 300 });
    await petstore("account set-plan kennel enterprise --per-minute 2000 --per-day 300000");
    const enterprise = { plan: "enterprise", perMinute: 2_000, perDay: 300_000 };
    expect(await json("account show kennel")).toMatchObject({ ...enterprise, keys: [] });
  });

  it("show prints the account and its keys for people", async () => {
    const { id } = await json("key issue shop");
    const { printed } = await petstore("account show shop");
    expect(printed).toMatch(new RegExp(`^id +1\nname +shop\nplan +free[^]*\n\nkeys\nid  name  prefix .*\n${id} .*$`));
  });

  it("suspend and resume show since when an account is suspended, and keep the first time", async () => {
    const { suspendedAt } = await json("account suspend shop");
    expect(Date.parse(suspendedAt)).not.toBeNaN();
    expect(await json("account suspend shop")).toMatchObject({ suspendedAt });
    expect(await json("account show shop")).toMatchObject({ name: "shop", suspendedAt });
    expect(await json("account resume shop")).not.toHaveProperty("suspendedAt");
  });
});

describe("petstore audit", () => {
  it("shows who changed what, the newest change first, of all accounts or of one", async () => {
    await petstore("account create museum");
    const { id } = await json("key issue museum --name website --scope read");
    await petstore(`key revoke ${id}`, { PETSTORE_ACTOR: "Ada, ticket 7" });
    const entries = await json("audit --limit 3");
    expect(entries).toMatchObject([
      { actor: "Ada, ticket 7", action: "key revoke", account: "museum", key: id, details: { name: "website" } },
      { actor: `${userInfo().username}@${hostname()}`, action: "key issue", details: { scope: "read" } },
      { action: "account create", account: "museum", details: { name: "museum", plan: "free" } },
    ]);
    expect(entries[2]).not.toHaveProperty("key");
    await petstore("account create other");
    expect(await json("audit --account museum")).toEqual(entries);
    const { printed } = await petstore("audit --account museum --limit 1");
    expect(printed).toMatch(
      /^at +actor +action +account +key +details\n20\S+ +Ada, ticket 7 +key revoke +museum +\d+ +name=website .*$/,
    );
  });
});
