import { type DatabaseConfig, explainEncoding, readMigrations } from "@petstore/core";
import type { Client } from "pg";
import { explainDatabase, withClient } from "../command-context.js";
import { checkInserts } from "./check-inserts.js";
import { checkKeys } from "./check-keys.js";
import { checkReplication } from "./check-replication.js";
import { checkDatabaseTransport } from "./check-transport.js";
import { compareClocks, type Finding, fault, ok, warning } from "./finding.js";

const oldestVersion = 140_000;
const applicationName = "petstore-doctor";

/** Every finding about PostgreSQL; only one if it is unreachable. */
export async function checkDatabase(config: DatabaseConfig, now: () => number): Promise<Finding[]> {
  const { url, directUrl } = config;
  try {
    return await withClient(url, applicationName, async (client) => {
      const { version, versionNumber, encoding, statementTimeoutMs } = await one<Server>(client, serverQuery);
      const role = await one<Role>(client, roleQuery);
      const readClock = async () => (await one<{ nowMs: number }>(client, clockQuery)).nowMs;
      const schema = await checkMigrations(url);
      return [
        versionNumber >= oldestVersion
          ? ok("database", `PostgreSQL ${version}`)
          : fault("database", `PostgreSQL ${version}`, "Upgrade it: 14 is the oldest that works."),
        checkEncoding(encoding),
        checkDatabaseTransport("DATABASE_URL", url),
        checkRole(role),
        ...(await checkReplication(client, role.name)),
        schema,
        // Without the tables there are no keys.
        ...(schema.status === "ok" ? [await checkKeys(client, role.name)] : []),
        await checkInserts(client, config.writeTimeoutMs),
        await compareClocks("database clock", now, readClock),
        checkPooler(config, await isPooled(client), statementTimeoutMs),
        ...(directUrl === undefined ? [] : await checkDirect(directUrl)),
      ];
    });
  } catch (error) {
    return [
      fault("database", explainDatabase(error, url), "Nothing else can be looked at in it until that is mended."),
    ];
  }
}

function checkEncoding(encoding: string): Finding {
  const check = "database encoding";
  const unusable = explainEncoding(encoding);
  if (unusable === undefined) return ok(check, encoding);
  return fault(
    check,
    unusable.fault,
    `${unusable.cure} Until then, a create with such a name fails with INTERNAL_ERROR.`,
  );
}

function checkRole({ name, excess }: Role): Finding {
  const check = "database role";
  if (excess === null) return ok(check, `${name} reads and writes rows, and nothing else`);
  const advice =
    "Give the services a role that only reads and writes rows: run tools/deploy/postgres/roles.sql, also after each restore of a dump.";
  return warning(check, `${name} ${excess}`, advice);
}

async function checkMigrations(url: string): Promise<Finding> {
  const { pending, unknown } = await readMigrations(url);
  const newer = unknown.length === 0 ? "" : `; has ${unknown.join(", ")} of a newer release, unknown to this one`;
  if (pending.length === 0) return ok("schema", `current${newer}`);
  const found = `lacks ${pending.join(", ")}${newer}`;
  return fault("schema", found, "Run petstore migrate; until then the store answers 503.");
}

function checkPooler(
  { url, directUrl, writeTimeoutMs }: DatabaseConfig,
  isPooled: boolean,
  statementTimeoutMs: number,
): Finding {
  const check = "pooler";
  const isDeclared = new URL(url).searchParams.get("pgbouncer") === "true";
  if (!isPooled && !isDeclared) return ok(check, "none");
  if (!isPooled) {
    const found = "none, but DATABASE_URL says pgbouncer=true";
    return warning(check, found, "Leave it out: prepared statements are faster.");
  }
  if (!isDeclared) {
    const advice = "Add ?pgbouncer=true to DATABASE_URL, and set DATABASE_DIRECT_URL to the address past it.";
    return fault(check, "a pooler such as PgBouncer, and DATABASE_URL does not say so", advice);
  }
  if (directUrl === undefined) {
    const lost = "without it, changes are seen within 5 s, and petstore usage show finds no instance";
    return warning(check, "PgBouncer, and no way past it", `Set DATABASE_DIRECT_URL: ${lost}.`);
  }
  const setting = `ALTER ROLE ... SET statement_timeout = '${writeTimeoutMs}ms'`;
  if (statementTimeoutMs === 0) {
    const advice = `${setting}, lock_timeout likewise, a tenth shorter: through it, the store cannot.`;
    return warning(check, "PgBouncer, and sessions behind it have no statement_timeout", advice);
  }
  const found = `PgBouncer, and a statement_timeout of ${statementTimeoutMs} ms behind it`;
  if (statementTimeoutMs >= writeTimeoutMs) return ok(check, found);
  return warning(check, found, `${setting}: it cuts writes before DATABASE_WRITE_TIMEOUT_MS does.`);
}

async function checkDirect(url: string): Promise<Finding[]> {
  const check = "direct connection";
  try {
    const advice = "Set DATABASE_DIRECT_URL to PostgreSQL itself: nobody can listen through a pooler.";
    const leadsToPooler = await withClient(url, applicationName, isPooled);
    return [
      checkDatabaseTransport("DATABASE_DIRECT_URL", url),
      leadsToPooler ? fault(check, "goes to a pooler", advice) : ok(check, "reaches PostgreSQL itself"),
    ];
  } catch (error) {
    return [fault(check, explainDatabase(error, url), "Correct DATABASE_DIRECT_URL.")];
  }
}

async function one<Row extends object>(client: Client, text: string): Promise<Row> {
  const [row] = (await client.query<Row>(text)).rows;
  if (row === undefined) throw new Error("the database returned no row about itself");
  return row;
}

/** True if a pooler such as PgBouncer shares the sessions of the server: it sends its clients process numbers of its own. */
async function isPooled(client: Client): Promise<boolean> {
  const { pid } = await one<{ pid: number }>(client, "select pg_backend_pid() as pid");
  return pid !== (client as unknown as { processID: number | null }).processID;
}

interface Role {
  readonly name: string;
  /** The first right of the role beyond reading and writing rows. */
  readonly excess: string | null;
}

/** `pg_has_role` also sees the rights that the role inherits. */
const roleQuery = `
  select rolname as name, case
    when rolsuper then 'is a superuser, who may do everything on that machine'
    when rolcreaterole or rolcreatedb then 'may create databases or roles'
    when has_schema_privilege(current_schema(), 'create')
      or exists (select from pg_class
                 where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
                   and pg_has_role(relowner, 'usage')) then 'may create, alter or drop tables'
    when has_table_privilege(to_regclass('audit_log'), 'update, delete')
      then 'may change and delete entries of the audit log'
    end as excess
  from pg_roles where rolname = current_user`;

interface Server {
  /** Such as `18.1`, and 180001. */
  readonly version: string;
  readonly versionNumber: number;
  readonly encoding: string;
  /** Set by the role, the database or the pooler, not by us. 0 for none. */
  readonly statementTimeoutMs: number;
}

const serverQuery = `
  select current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
    current_setting('server_encoding') as encoding,
    (select setting::int from pg_settings where name = 'statement_timeout') as "statementTimeoutMs"`;

const clockQuery = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`;
