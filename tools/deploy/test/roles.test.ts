// The roles of roles.sql on a new PostgreSQL, and the petstore command with them.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWithProgram, shared } from "@petstore/harness";
import { openPostgresServer, query } from "@petstore/harness/postgres";
import { markedCommands, openTemporaryDirectory, repository } from "@petstore/harness/processes";
import { expect, it, vi } from "vitest";
import { folder, issueKey, petstore, run } from "./commands.js";

vi.setConfig({ testTimeout: 120_000 });

describeWithProgram("psql", "the roles of roles.sql", async () => {
  const directory = await shared(openTemporaryDirectory());
  const postgres = await shared(openPostgresServer());
  const urlOf = (pathname: string) => Object.assign(new URL(postgres.administratorUrl), { pathname }).href;
  // The embedded server has these roles. The script finds a server without them.
  await query(urlOf("petstore"), "drop owned by petstore_service");
  for (const dropped of ["database petstore", "role petstore_service", "role petstore"]) {
    await query(urlOf("postgres"), `drop ${dropped}`);
  }

  /** A new database of the store, with the addresses of the superuser and of other roles. */
  async function createStore(name: string) {
    // template0 has the rights of a new PostgreSQL; the embedded server has limited those of template1.
    await query(urlOf("postgres"), `create database ${name} template template0`);
    const administratorUrl = urlOf(name);
    return {
      administratorUrl,
      urlOf: (username: string, password: string) =>
        Object.assign(new URL(administratorUrl), { username, password }).href,
      async runScript(ownerPassword: string, servicePassword: string) {
        const [owner, service] = [join(directory.path, "owner"), join(directory.path, "service")];
        await writeFile(owner, ownerPassword);
        await writeFile(service, servicePassword);
        const env = { PATH: process.env.PATH, OWNER_PASSWORD_FILE: owner, SERVICE_PASSWORD_FILE: service };
        await run("psql", ["--no-psqlrc", `--file=${folder}postgres/roles.sql`, administratorUrl], { env });
      },
    };
  }

  it("migrate as one, and read and write rows as the other, which can change no table", async () => {
    const store = await createStore("store");
    await store.runScript("first-owner", "first-service");
    // Run again, it replaces the passwords and changes nothing else.
    await store.runScript("owner-password", "service-password");
    // An empty password would lock out a role.
    await expect(store.runScript("owner-password", "")).rejects.toThrow("is missing or empty");
    const ownerUrl = store.urlOf("petstore", "owner-password");
    const url = store.urlOf("petstore_service", "service-password");
    await expect(query(store.urlOf("petstore_service", "first-service"), "select 1")).rejects.toThrow("password");
    await expect(petstore(url, "migrate")).rejects.toThrow("may not do this in its database");
    await petstore(ownerUrl, "migrate");
    expect(await petstore(url, "migrate")).toContain("The schema is current.");

    await issueKey(url);
    expect(await petstore(url, "doctor")).toMatch(/^ok +database role: petstore_service reads and writes rows/m);
    // As a create with an idempotency key does, which needs the sequence itself.
    await query(url, "insert into pets values (nextval(pg_get_serial_sequence('pets', 'id')), 'Rex', 1, 'sold')");
    // A trigger reports this change.
    await query(url, "update api_keys set ban_lifted_at = now()");
    expect(await query(url, "select name from pets")).toEqual([{ name: "Rex" }]);
    await query(url, "delete from idempotency_keys");
    await store.runScript("owner-password", "service-password");
    for (const statement of [
      ...["update audit_log set actor = 'nobody'", "delete from audit_log", "truncate audit_log"],
      ...["create table mine (id int)", "create temporary table mine (id int)", "alter table pets add column more int"],
      ...["drop table pets", "truncate pets", "create schema mine", "set role petstore"],
      ...["select lo_create(0)", "select lo_creat(-1)", "select lo_from_bytea(0, 'content')"],
    ]) {
      await expect(query(url, statement), statement).rejects.toMatchObject({ code: "42501" });
    }
  });

  it("are made in a database of version 1.0, whose tables a superuser made", async () => {
    const store = await createStore("older_store");
    await petstore(store.administratorUrl, "migrate");
    await petstore(store.administratorUrl, "account", "create", "shop");
    await store.runScript("owner-password", "service-password");
    await query(store.administratorUrl, "create table later (id int); alter table later owner to petstore");
    const url = store.urlOf("petstore_service", "service-password");
    expect(await petstore(url, "account", "list")).toContain("shop");
    await petstore(url, "key", "issue", "shop");
    await expect(query(url, "delete from audit_log")).rejects.toMatchObject({ code: "42501" });
  });

  it("of a second store on the server cannot enter the first one, whose passwords stay as they are", async () => {
    const first = await createStore("first_store");
    await first.runScript("owner-password", "service-password");
    await using home = await openTemporaryDirectory();
    const folderOfPasswords = join(home.path, "petstore-private");
    await mkdir(folderOfPasswords);
    const env = {
      PATH: process.env.PATH,
      HOME: home.path,
      ADMINISTRATOR_URL: urlOf("postgres"),
      STAGING_ADMINISTRATOR_URL: urlOf("staging"),
    };
    const commands = await markedCommands("tools/deploy/operations.md", "second-store");
    await run("sh", ["-euc", commands], { cwd: fileURLToPath(repository), env });
    const passwordOf = async (role: string) =>
      (await readFile(join(folderOfPasswords, `staging-${role}-password`), "utf8")).trim();
    const secondUrlOf = (database: string, username: string, password: string) =>
      Object.assign(new URL(urlOf(database)), { username, password }).href;

    const [owner, service] = [await passwordOf("owner"), await passwordOf("service")];
    await petstore(secondUrlOf("staging", "staging", owner), "migrate");
    await petstore(first.urlOf("petstore", "owner-password"), "migrate");
    const url = secondUrlOf("staging", "staging_service", service);
    await petstore(url, "account", "create", "shop");
    expect(await petstore(url, "doctor")).toMatch(/^ok +database role: staging_service reads and writes rows/m);
    const firstUrl = first.urlOf("petstore_service", "service-password");
    expect(await query(firstUrl, "select name from accounts")).toEqual([]);
    const denied = "permission denied for database";
    await expect(query(secondUrlOf("first_store", "staging_service", service), "select 1")).rejects.toThrow(denied);
    await expect(query(secondUrlOf("first_store", "staging", owner), "select 1")).rejects.toThrow(denied);
    const inSecond = Object.assign(new URL(firstUrl), { pathname: "staging" }).href;
    await expect(query(inSecond, "select 1")).rejects.toThrow(denied);
  });
});
