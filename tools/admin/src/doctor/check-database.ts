import { type DatabaseConfig, pendingMigrations } from "@petstore/core";
import { explainDatabase } from "../database-fault.js";
import { checkReplication } from "./check-replication.js";
import { checkDatabaseTransport } from "./check-transport.js";
import { compareClocks, type Finding, fault, ok, warning } from "./finding.js";
import { type DatabaseFacts, inspectDatabase } from "./inspect-database.js";

const oldestVersion = 140_000;
const timeoutMs = 5_000;

/** Every finding about PostgreSQL; only one if it is unreachable. */
export async function checkDatabase(config: DatabaseConfig, now: () => number): Promise<Finding[]> {
  const { url, directUrl } = config;
  try {
    const facts = await inspectDatabase({ url, timeoutMs, now });
    const { version, versionNumber } = facts;
    return [
      versionNumber >= oldestVersion
        ? ok("database", `PostgreSQL ${version}`)
        : fault("database", `PostgreSQL ${version}`, "Upgrade it: 14 is the oldest that works."),
      checkDatabaseTransport("DATABASE_URL", url),
      checkRole(facts.role),
      ...checkReplication(facts.replication, facts.role.name),
      await checkMigrations(url),
      compareClocks("database clock", facts),
      checkPooler(config, facts),
      ...(directUrl === undefined
        ? []
        : [checkDatabaseTransport("DATABASE_DIRECT_URL", directUrl), await checkDirect(directUrl, now)]),
    ];
  } catch (error) {
    return [fault("database", reason(error, url), "Nothing else can be looked at in it until that is mended.")];
  }
}

/** Warns if the role of the services may do more than they need. */
function checkRole({ name, isSuperuser, isAdministrator, canChangeTables }: DatabaseFacts["role"]): Finding {
  const check = "database role";
  const advice = "Give the services a role that only reads and writes rows: tools/deploy/postgres/roles.sql makes it.";
  if (isSuperuser) return warning(check, `${name} is a superuser, who may do everything on that machine`, advice);
  if (isAdministrator) return warning(check, `${name} may create databases or roles`, advice);
  if (canChangeTables) return warning(check, `${name} may create, alter or drop tables`, advice);
  return ok(check, `${name} reads and writes rows, and nothing else`);
}

async function checkMigrations(url: string): Promise<Finding> {
  const missing = await pendingMigrations(url);
  if (missing.length === 0) return ok("schema", "current");
  return fault("schema", `lacks ${missing.join(", ")}`, "Run petstore migrate; until then the store answers 503.");
}

function checkPooler(
  { url, directUrl, writeTimeoutMs }: DatabaseConfig,
  facts: Pick<DatabaseFacts, "isPooled" | "statementTimeoutMs">,
): Finding {
  const isDeclared = new URL(url).searchParams.get("pgbouncer") === "true";
  if (!facts.isPooled && !isDeclared) return ok("pooler", "none");
  if (!facts.isPooled) {
    return warning(
      "pooler",
      "none, but DATABASE_URL says pgbouncer=true",
      "Leave it out: prepared statements are faster.",
    );
  }
  if (!isDeclared) {
    return fault(
      "pooler",
      "a pooler such as PgBouncer, and DATABASE_URL does not say so",
      "Add ?pgbouncer=true to DATABASE_URL, and set DATABASE_DIRECT_URL to the address past it.",
    );
  }
  if (directUrl === undefined) {
    return warning(
      "pooler",
      "PgBouncer, and no way past it",
      "Set DATABASE_DIRECT_URL: without it, changes are seen within 5 s, and usage and bans cannot be asked for.",
    );
  }
  if (facts.statementTimeoutMs === 0) {
    return warning(
      "pooler",
      "PgBouncer, and sessions behind it have no statement_timeout",
      `ALTER ROLE ... SET statement_timeout = '${writeTimeoutMs}ms', lock_timeout likewise, a tenth shorter: through it, the store cannot.`,
    );
  }
  if (facts.statementTimeoutMs < writeTimeoutMs) {
    return warning(
      "pooler",
      `PgBouncer, and a statement_timeout of ${facts.statementTimeoutMs} ms behind it`,
      `ALTER ROLE ... SET statement_timeout = '${writeTimeoutMs}ms': it cuts writes before DATABASE_WRITE_TIMEOUT_MS does.`,
    );
  }
  return ok("pooler", `PgBouncer, and a statement_timeout of ${facts.statementTimeoutMs} ms behind it`);
}

async function checkDirect(url: string, now: () => number): Promise<Finding> {
  try {
    const { isPooled } = await inspectDatabase({ url, timeoutMs, now });
    if (!isPooled) return ok("direct connection", "reaches PostgreSQL itself");
    return fault(
      "direct connection",
      "goes to a pooler",
      "Set DATABASE_DIRECT_URL to PostgreSQL itself: nobody can listen through a pooler.",
    );
  } catch (error) {
    return fault("direct connection", reason(error, url), "Correct DATABASE_DIRECT_URL.");
  }
}

function reason(error: unknown, url: string): string {
  const message = error instanceof Error ? error.message || `${"code" in error ? error.code : error.name}` : `${error}`;
  return explainDatabase(error, url) ?? `The database at ${new URL(url).host} cannot be used: ${message}.`;
}
