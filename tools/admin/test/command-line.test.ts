import { createTestDatabase, type TestDatabase } from "@petstore/harness";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database[Symbol.asyncDispose]());

describe("petstore", () => {
  it.each([
    "",
    "accounts",
    "account create",
    "account create x --plan gold",
    "account create x --per-minute 0",
    "key issue x --expires yesterday",
    "key issue x --expires 2001-01-01",
    "key issue x --expires 2099-02-30",
    "key issue x --expires 2099-13-01T00:00:00Z",
    "account create x --per-minute 2147483648",
    "--colour",
    "account set-plan x gold",
    "account set-plan x",
    "key rotate 1",
    "key rotate 1 --grace soon",
    "key rotate 1 --grace 1h30m",
    "key rotate 1 --grace 99999d",
    "key expire 1 --at yesterday",
    "ban lift",
    "usage show",
  ])("answers %j, which it does not understand, with exit code 2 and a hint", async (commandLine) => {
    const { exitCode, complained } = await petstore(commandLine);
    expect(exitCode).toBe(2);
    expect(complained).toMatch(/help|Usage/);
  });

  it.each([
    ...["", "migrate", "doctor", "account", "account create", "account list", "account show", "account set-plan"],
    ...["account set-limits", "key", "key issue", "key list", "key rotate", "key revoke", "key expire"],
    ...["ban", "ban list", "ban lift", "usage", "usage show"],
  ])("explains itself: %s --help", async (commandLine) => {
    const { exitCode, printed } = await petstore(`${commandLine} --help`);
    expect(exitCode).toBe(0);
    expect(printed).toContain("Usage: petstore");
    if (commandLine.includes(" ") || commandLine === "migrate") expect(printed).toContain("--json");
  });

  it("says what to do about a database without tables", async () => {
    expect(await petstore("account list")).toMatchObject({
      exitCode: 1,
      complained: expect.stringContaining("migrate"),
    });
  });

  it("says what to do without a database, and does not show the password of an unreachable one", async () => {
    expect(await petstore("account list", "")).toMatchObject({
      exitCode: 1,
      complained: "There is no database: start the store with npm start, or set DATABASE_URL.",
    });
    const unreachable = await petstore("account list", "postgres://someone:secret@127.0.0.1:1/petstore");
    expect(unreachable).toMatchObject({ exitCode: 1, complained: expect.stringContaining("127.0.0.1") });
    expect(unreachable.complained).not.toContain("secret");
  });

  it.each([
    ["http://someone:secret@127.0.0.1/", "DATABASE_URL must be a URL that begins with postgres://"],
    ["secret", "DATABASE_URL must be a URL that begins with postgres://"],
    ["postgres://someone:secret@no-such-host.invalid/petstore", "no-such-host.invalid"],
  ])("says what is wrong with the address %s, and repeats no password", async (url, line) => {
    const { exitCode, complained } = await petstore("account list", url);
    expect({ exitCode, complained }).toMatchObject({ exitCode: 1, complained: expect.stringContaining(line) });
    expect(complained).not.toContain("secret");
  });

  it("says that the password is wrong, and that the database does not exist", async () => {
    const url = new URL(database.directUrl);
    url.password = "wrong";
    expect((await petstore("migrate", url.href)).complained).toMatch(/refuses the user or the password/);
    const other = new URL(database.directUrl);
    other.pathname = "nowhere";
    expect((await petstore("account list", other.href)).complained).toMatch(/does not exist/);
  });
});

async function petstore(commandLine: string, url?: string) {
  return runCommand(commandLine, { DATABASE_URL: url ?? database.url });
}
