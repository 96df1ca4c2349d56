// The roles of roles.sql on a new PostgreSQL, and the images that use them.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describeWithProgram } from "@petstore/harness";
import { isAnswering } from "@petstore/harness/network";
import { openTemporaryPostgres, query } from "@petstore/harness/postgres";
import { openTemporaryDirectory, openTogether } from "@petstore/harness/processes";
import { expect, it, vi } from "vitest";
import { issueKey, petstore, startService } from "./image.js";

const script = fileURLToPath(new URL("../postgres/roles.sql", import.meta.url));

// Each test starts a PostgreSQL and runs the petstore command about ten times.
vi.setConfig({ testTimeout: 120_000 });

describeWithProgram("psql", "the roles of roles.sql", () => {
  it("migrate as one, and serve everything as the other, which can change no table", async () => {
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

    const key = await issueKey(url);
    expect(await petstore(url, "doctor")).toMatch(/^ok +database role: petstore_service reads and writes rows/m);
    await using rest = await startService("rest", { DATABASE_URL: url });
    await using graphql = await startService("graphql", { DATABASE_URL: url });
    for (const { origin } of [rest, graphql]) await expect.poll(() => isAnswering(`${origin}/readyz`)).toBe(true);
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", "Idempotency-Key": "once" };
    const create = () =>
      fetch(`${rest.origin}/v1/pets`, { method: "POST", headers, body: '{"name":"Rex","categoryId":1}' });
    expect((await create()).status).toBe(201);
    expect((await create()).headers.get("Idempotency-Replayed")).toBe("true");
    const body = '{"query":"{ pets { name } }"}';
    const listed = await fetch(`${graphql.origin}/graphql`, { method: "POST", headers, body });
    expect(await listed.json()).toMatchObject({ data: { pets: [{ name: "Rex" }] } });

    // The services have written when they used the key, and the command who issued it.
    await expect.poll(() => petstore(url, "key", "list", "shop")).toMatch(/ \d{4}-\d\d-\d\d$/m);
    expect(await petstore(url, "audit")).toContain("key issue");

    // Running instances hear the question and answer it: LISTEN and NOTIFY need no right. Each counts for itself.
    expect(await petstore(url, "usage", "show", "shop", "--json")).toContain('"used": 2');
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
    const postgres = use(await openTemporaryPostgres());
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
