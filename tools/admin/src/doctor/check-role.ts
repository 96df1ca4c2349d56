import { type DatabaseConfig, inspectRole } from "@petstore/core";
import { type Finding, ok, warning } from "./finding.js";

const check = "database role";
const advice = "Give the services a role that only reads and writes rows: tools/deploy/postgres/roles.sql makes it.";

/** Warns when the role of the services may do more than they need. Rejects when the database cannot be asked. */
export async function checkRole({ url }: DatabaseConfig, timeoutMs: number): Promise<Finding> {
  const { name, isSuperuser, isAdministrator, canChangeTables } = await inspectRole({ url, timeoutMs });
  if (isSuperuser) return warning(check, `${name} is a superuser, who may do everything on that machine`, advice);
  if (isAdministrator) return warning(check, `${name} may create databases or roles`, advice);
  if (canChangeTables) return warning(check, `${name} may create, alter or drop tables`, advice);
  return ok(check, `${name} reads and writes rows, and nothing else`);
}
