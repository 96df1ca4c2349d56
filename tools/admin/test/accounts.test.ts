// Tests the output of the account commands. packages/core tests their changes, and running.test.ts creates
// an account with its own numbers.
import { hostname, userInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { useDatabase } from "./run-command.js";

const { json, petstore } = useDatabase("migrate", "account create shop");

describe("petstore account", () => {
  it("creates an account on the Free plan unless another is named, and lists both", async () => {
    const clinic = await json("account create clinic --plan business");
    expect(clinic).toMatchObject({ id: "2", name: "clinic", plan: "business", perMinute: 1_000, perDay: 100_000 });
    const shop = expect.objectContaining({ id: "1", name: "shop", plan: "free", perMinute: 60, perDay: 1_000 });
    expect(await json("account list")).toEqual([shop, clinic]);
  });

  it("set-plan changes the plan and the agreed limits", async () => {
    expect(await json("account set-plan shop pro")).toMatchObject({ name: "shop", plan: "pro", perMinute: 300 });
    await petstore("account set-plan shop enterprise --per-minute 2000 --per-day 300000");
    const enterprise = { plan: "enterprise", perMinute: 2_000, perDay: 300_000 };
    expect(await json("account show shop")).toMatchObject({ ...enterprise, keys: [] });
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
    expect(await json("account list")).toMatchObject([{ name: "shop", suspendedAt }]);
    expect(await json("account resume shop")).not.toHaveProperty("suspendedAt");
  });
});

describe("petstore audit", () => {
  it("shows who changed what, the newest change first, of all accounts or of one", async () => {
    const { id } = await json("key issue shop --name website --scope read");
    await petstore(`key revoke ${id}`, { PETSTORE_ACTOR: "Ada, ticket 7" });
    const entries = await json("audit");
    expect(entries).toMatchObject([
      { actor: "Ada, ticket 7", action: "key revoke", account: "shop", key: id, details: { name: "website" } },
      { actor: `${userInfo().username}@${hostname()}`, action: "key issue", details: { scope: "read" } },
      { action: "account create", account: "shop", details: { name: "shop", plan: "free" } },
    ]);
    expect(entries[2]).not.toHaveProperty("key");
    await petstore("account create other");
    expect(await json("audit --account shop")).toEqual(entries);
    const { printed } = await petstore("audit --account shop --limit 1");
    expect(printed).toMatch(
      /^at +actor +action +account +key +details\n20\S+ +Ada, ticket 7 +key revoke +shop +1 +name=website .*$/,
    );
  });
});
