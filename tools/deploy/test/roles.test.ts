// The roles of roles.sql on a new PostgreSQL, and the petstore command with them.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describeWithProgram } from "@petstore/harness";
import { openPostgresServer, query } from "@petstore/harness/postgres";
import { openTemporaryDirectory, openTogether } from "@petstore/harness/processes";
import { expect, it, vi } from "vitest";
import { issueKey, petstore } from "./petstore-command.js";

const script = fileURLToPath(new URL("../postgres/roles.sql", import.meta.url));

// Each test starts a PostgreSQL and runs the petstore command several times.
vi.setConfig({ testTimeout: 120_000 });

describeWithProgram("psql", "the roles of roles.sql", () => {
  it("migrate as one, and read and write rows as the other, which can change no table", async () => {
    await using server = await openServer();
    await server.runScript("first-owner", "first-service");
    // Run again, it replaces the passwords and changes nothing else.
    await server.runScript("owner-password", "service-password");
    // An empty password would lock out a role.
    await expect(server.runScript("owner-password", "")).rejects.toThrow("is missing or empty");
    const ownerUrl = server.urlOf("petstore", "owner-password");
    const url = server.urlOf("petstore_service", "service-password");
    await expect(query(server.urlOf("petstore_service", "first-service"), "select 1")).rejects.toThrow("password");
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
    await server.runScript("owner-password", "service-password");
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
    await using server = await openServer();
    await petstore(server.administratorUrl, "migrate");
    await petstore(server.administratorUrl, "account", "create", "shop");
    await server.runScript("owner-password", "service-password");
    await query(server.administratorUrl, "create table later (id int); alter table later owner to petstore");
    const url = server.urlOf("petstore_service", "service-password");
    expect(await petstore(url, "account", "list")).toContain("shop");
    await petstore(url, "key", "issue", "shop");
    await expect(query(url, "delete from audit_log")).rejects.toMatchObject({ code: "42501" });
  });
});

interface Server extends AsyncDisposable {
  /** The database of the store, for the superuser. */
  readonly administratorUrl: string;
  urlOf(role: string, password: string): string;
  runScript(ownerPassword: string, servicePassword: string): Promise<void>;
}

/** A PostgreSQL with a new database and without the roles of the script. */
function openServer(): Promise<Server> {
  return openTogether(async (use) => {
    const directory = use(await openTemporaryDirectory());
    const postgres = use(await openPostgresServer());
    const superuser = new URL(postgres.administratorUrl);
    const [elsewhere = "", address = ""] = ["/postgres", "/store"].map(
      (pathname) => Object.assign(new URL(superuser), { pathname }).href,
    );
    await query(superuser.href, "drop owned by petstore_service");
    for (const dropped of ["database petstore", "role petstore_service", "role petstore"]) {
      await query(elsewhere, `drop ${dropped}`);
    }
    // template0 has the rights of a new PostgreSQL; the embedded server has limited those of template1.
    await query(elsewhere, "create database store template template0");
    return {
      administratorUrl: address,
      urlOf: (username, password) => Object.assign(new URL(address), { username, password }).href,
      async runScript(ownerPassword, servicePassword) {
        const [owner, service] = [join(directory.path, "owner"), join(directory.path, "service")];
        await writeFile(owner, ownerPassword);
        await writeFile(service, servicePassword);
        const environment = { PATH: process.env.PATH, OWNER_PASSWORD_FILE: owner, SERVICE_PASSWORD_FILE: service };
        await promisify(execFile)("psql", ["--no-psqlrc", `--file=${script}`, address], { env: environment });
      },
    };
  });
}
