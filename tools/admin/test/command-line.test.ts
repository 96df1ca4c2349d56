// Command lines and addresses that the command does not accept, and its help.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { readMigrations } from "@petstore/core";
import { query } from "@petstore/harness/postgres";
import { openTemporaryDirectory, startProgram } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";
import { runCommand, useDatabase } from "./run-command.js";

const command = fileURLToPath(new URL("../bin/petstore.mjs", import.meta.url));

it.each([
  "",
  "account create",
  "account create x --plan gold",
  "account create x --per-minute 0",
  "account create x --per-minute 2147483648",
  "key issue x --expires yesterday",
  "key issue x --expires 2001-01-01",
  "key issue x --expires 2099-02-30",
  "key issue x --expires 2099-13-01T00:00:00Z",
  "key issue x --scope all",
  "key rotate 1",
  "key rotate 1 --grace soon",
  "key rotate 1 --grace 99999d",
])("answers %j, which it does not understand, with exit code 2 and a hint", async (commandLine) => {
  const { exitCode, complained } = await runCommand(commandLine, {});
  expect(exitCode).toBe(2);
  expect(complained).toMatch(/help|Usage/);
});

it("shows an example of a duration if a rotation has none", async () => {
  const { complained } = await runCommand("key rotate 1", {});
  expect(complained).toBe(
    "error: say how long the old key continues to work, such as --grace 24h\n(--help shows the commands and options)",
  );
});

it("prints why a command failed as JSON on standard error, with --json", async () => {
  for (const commandLine of ["--json account list", "account list --json"]) {
    const { exitCode, printed, complained } = await runCommand(commandLine, {});
    expect({ exitCode, printed }).toEqual({ exitCode: 1, printed: "" });
    expect(JSON.parse(complained)).toEqual({ error: { message: expect.stringMatching(/^There is no database: /) } });
  }
  const { printed, complained } = await runCommand("doctor --json", {});
  expect(JSON.parse(printed)).toEqual([expect.objectContaining({ check: "database", status: "fault" })]);
  expect(JSON.parse(complained)).toEqual({ error: { message: "Found 1 fault." } });
});

it("lists what the statements need of PostgreSQL, without a database", async () => {
  const { exitCode, printed } = await runCommand("requirements", {});
  expect(exitCode).toBe(0);
  expect(printed).toMatch(/^common table expressions that change rows\n {2}for: .+\n {2}in: {2}.*insert-pet-once/m);
  const found = JSON.parse((await runCommand("requirements --json", {})).printed);
  expect(found).toContainEqual({ name: "LISTEN", purpose: expect.any(String), neededBy: ["connection that listens"] });
});

it.each(["ban lits 1", "account resum x", "key revke 1", "account suspend x --jsn"])(
  "suggests no other command for %j, because it may do the opposite",
  async (commandLine) => {
    const { exitCode, complained } = await runCommand(commandLine, {});
    expect(exitCode).toBe(2);
    expect(complained).not.toMatch(/did you mean/i);
  },
);

it("ends quietly when the reader of its output has gone", async () => {
  const child = spawn(process.execPath, [command, "--help"]);
  child.stdout.destroy();
  const [complained, [exitCode]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect({ complained, exitCode }).toEqual({ complained: "", exitCode: 0 });
});

it("reads the file .env in the root of its repository, after the environment", async () => {
  await using root = await openTemporaryDirectory();
  await mkdir(join(root.path, "tools/admin/bin"), { recursive: true });
  await mkdir(join(root.path, "tools/admin/dist"));
  const copy = join(root.path, "tools/admin/bin/petstore.mjs");
  await copyFile(command, copy);
  const main = "console.log(process.env.DATABASE_URL, process.env.PETSTORE_DIR)";
  await writeFile(join(root.path, "tools/admin/dist/main.js"), main);
  await writeFile(join(root.path, ".env"), "DATABASE_URL=file\nPETSTORE_DIR='a folder'\n");
  await using program = startProgram({ name: "petstore", args: [copy], environment: { DATABASE_URL: "environment" } });
  expect(await program.ended).toBe(0);
  expect(program.output).toEqual(["environment a folder"]);
});

it.runIf(existsSync("/dev/full"))("says that its output cannot be written", async () => {
  await using full = await open("/dev/full", "w");
  await using program = startProgram({ name: "petstore", args: [command, "--help"], environment: {}, stdout: full.fd });
  expect(await program.ended).toBe(1);
  expect(program.errorOutput).toEqual([expect.stringMatching(/ cannot be written: ./)]);
});

describe("a database without tables", async () => {
  const { json, petstore, environment } = await useDatabase();

  it("gets the current schema, and the command says so when there is nothing to do", async () => {
    expect(await petstore("account list")).toMatchObject({
      exitCode: 1,
      complained: expect.stringContaining("migrate"),
    });
    const migrations = (await readMigrations(environment.DATABASE_DIRECT_URL)).pending.join(", ");
    expect(migrations).toMatch(/^0001-first-tables, /);
    expect(await petstore("doctor")).toEqual({
      exitCode: 1,
      printed: expect.stringContaining(`FAULT    schema: lacks ${migrations}\n         -> Run petstore migrate`),
      complained: "Found 1 fault.",
    });
    const { printed } = await petstore("migrate");
    expect(printed).toBe(`Applied ${migrations}.`);
    expect(await petstore("migrate")).toMatchObject({ exitCode: 0, printed: "The schema is current." });
    expect(await json("migrate")).toEqual({ applied: [], unknown: [] });
  });

  it("may have been migrated by a newer release, which migrate and doctor say in one line", async () => {
    await query(environment.DATABASE_DIRECT_URL, "insert into kysely_migration values ('9999-next', '')");
    expect(await petstore("migrate")).toMatchObject({
      exitCode: 0,
      printed: "The schema is current.\nA newer release has applied 9999-next, which this one does not know.",
    });
    expect(await json("migrate")).toEqual({ applied: [], unknown: ["9999-next"] });
    const { printed } = await petstore("doctor");
    expect(printed).toMatch(/^ok {7}schema: current; has 9999-next of a newer release, unknown to this one$/m);
  });

  it.each([
    ["migrate", { password: "wrong" }, /refuses the user or the password/],
    ["account list", { pathname: "nowhere" }, /does not exist/],
  ])("is not reached by %s with %j, and the command says why", async (commandLine, change, reason) => {
    const url = Object.assign(new URL(environment.DATABASE_DIRECT_URL), change).href;
    const ran = await runCommand(commandLine, { DATABASE_URL: url });
    expect(ran).toMatchObject({ exitCode: 1, complained: expect.stringMatching(reason) });
  });
});

it.each([
  ["account list", "", "There is no database: start the store with npm start, or set DATABASE_URL."],
  ["account list", "postgres://someone:secret@127.0.0.1:1/petstore", "127.0.0.1"],
  ["account list", "http://someone:secret@127.0.0.1/", "DATABASE_URL must be a URL that begins with postgres://"],
  ["account list", "postgres://someone:secret@no-such-host.invalid/petstore", "no-such-host.invalid"],
  [
    "migrate",
    "postgres://someone:secret@127.0.0.1:1/petstore?sslrootcert=/nowhere",
    "The database at 127.0.0.1:1 cannot be used: ENOENT: no such file or directory, open '/nowhere'.",
  ],
  ["doctor", "", "database: there is none\n         -> Start the store with npm start"],
  ["doctor", "postgres://someone:secret@127.0.0.1:1/petstore", "Nothing listens at 127.0.0.1:1"],
])("%s says what is wrong with the address %j, and repeats no password", async (commandLine, url, line) => {
  const { exitCode, printed, complained } = await runCommand(commandLine, { DATABASE_URL: url });
  expect(exitCode).toBe(1);
  expect(printed + complained).toContain(line);
  expect(printed + complained).not.toContain("secret");
});

describe("a command that cannot be done", async () => {
  const { json, petstore } = await useDatabase("migrate", "account create shop", "account create demo");

  it.each([
    ["account create shop", "An account with this name exists already."],
    ["account create a\nb", "control"],
    ["account create half --plan enterprise --per-day 5", "give both"],
    ["account create small --plan pro --per-minute 5 --per-day 9", "Only the Enterprise plan"],
    ["account set-plan nobody pro", "No account has this name"],
    ["account rename shop demo", "An account with this name exists already."],
    ["account rename nobody other", "No account has this name"],
    ["account rename shop a\nb", "control"],
    ["account delete nobody", "No account has this name"],
    ["account delete nobody --force", "No account has this name"],
    ["account show nobody", "No account has this name"],
    ["key change 1", "Give --name, --scope, or both."],
    ["key expire 99", "No key has this id"],
    ["key expire 99 --at 2100-01-01 --in 0", "Give --at or --in, not both."],
    ["key revoke", "Give the id of a key, or --all <account>."],
    ["key revoke 1 --all shop", "Give the id of a key, or --all <account>."],
    ["key revoke 99999999999999999999", "The id of a key is a whole number"],
    ["key rotate 99 --grace 0", "No working key has this id"],
    ["usage history", "Give the name of an account, or --key <id>."],
    ["usage history shop --key 1", "Give the name of an account, or --key <id>."],
    ["usage history nobody", "No account has this name"],
    ["usage history --key 99", "No key has this id"],
    ["usage history shop --hours 2 --days 2", "Give --hours or --days, not both."],
    ["usage top --days 3651", "Give at most 87600 hours or 3650 days."],
    ["usage show shop", "No instance of the store is running on this database"],
  ])("%s is refused with exit code 1 and one line", async (commandLine, line) => {
    const ran = await petstore(commandLine);
    expect(ran).toEqual({ exitCode: 1, printed: "", complained: expect.stringContaining(line) });
    expect(ran.complained).not.toContain("\n");
  });

  it.each([
    ["U+202E, which turns the text after it", "shop\u202Epohs"],
    ["U+2028, which ends a line", "shop\u20282026"],
    ["an API key", `pets_live_${"a".repeat(32)}_aaaaaa`],
  ])("has a name or an actor with %s", async (_what, text) => {
    const refused = { exitCode: 1, complained: expect.stringContaining("no control characters, and is no API key.") };
    expect(await petstore(`account create ${text}`)).toMatchObject(refused);
    expect(await petstore(`key issue shop --name ${text}`)).toMatchObject(refused);
    expect(await petstore("account suspend shop", { PETSTORE_ACTOR: text })).toMatchObject(refused);
    expect(await json("account show shop")).not.toHaveProperty("suspendedAt");
  });
});
