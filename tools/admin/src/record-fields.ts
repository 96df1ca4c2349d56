import type { KeyRecord } from "@petstore/core";
import type { Fields } from "./output.js";

/** A key as a command shows it; `rotatedFrom` is the first key of its lineage, under whose number it is banned. */
export function keyFields(record: KeyRecord): Fields {
  return {
    id: `${record.id}`,
    name: record.name,
    prefix: record.prefix,
    scope: record.scope,
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt?.toISOString(),
    revokedAt: record.revokedAt?.toISOString(),
    rotatedFrom: record.lineage === record.id ? undefined : `${record.lineage}`,
    banLiftedAt: record.banLiftedAt?.toISOString(),
    lastUsedOn: record.lastUsedOn,
  };
}
