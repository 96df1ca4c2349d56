import { rfc3339, selectEndingKeys } from "@petstore/core";
import type { Client } from "pg";
import { type Finding, ok, warning } from "./finding.js";
import { isInsufficientPrivilege } from "./insufficient-privilege.js";

/** As the default types of pg read it. */
interface EndingKey {
  readonly id: string;
  readonly accountName: string;
  readonly expiresAt: Date;
  readonly total: number;
}

const check = "keys";

/** Looks for keys that are in use and end soon. The services count the same keys. */
export async function checkKeys(client: Client, role: string): Promise<Finding> {
  try {
    const { rows } = await client.query<EndingKey>(selectEndingKeys.text);
    return findingOf(rows);
  } catch (error) {
    if (!isInsufficientPrivilege(error)) throw error;
    const advice = `Run doctor with another role, or grant select on accounts, api_keys to ${role}.`;
    return warning(check, `${role} may not look at them`, advice);
  }
}

function findingOf(rows: readonly EndingKey[]): Finding {
  const total = rows[0]?.total ?? 0;
  if (total === 0) return ok(check, "none that is in use ends within 14 days");
  const names = rows.map(({ id, accountName, expiresAt }) => `key ${id} of ${accountName} at ${rfc3339(expiresAt)}`);
  const more = total > rows.length ? [`and ${total - rows.length} more`] : [];
  const found = `${total} in use ${total === 1 ? "ends" : "end"} within 14 days: ${[...names, ...more].join(", ")}`;
  const advice = "Ask their holders whether they have a new key (operations guide, A key in use ends soon).";
  return warning(check, found, advice);
}
