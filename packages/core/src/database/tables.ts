import type { Generated, JSONColumnType } from "kysely";
import type { KeyScope } from "../access/key-scope.js";
import type { Pet } from "../pets/pet.js";
import type { Plan } from "../quota/plan.js";

/** The columns as our own connections return them: int8 is bigint, timestamptz is Date. */
export interface Tables {
  accounts: {
    id: Generated<bigint>;
    name: string;
    plan: Plan;
    /** An Enterprise account has both limits. Other accounts have neither. */
    minute_limit: number | null;
    day_limit: number | null;
    created_at: Generated<Date>;
    suspended_at: Date | null;
  };
  api_keys: {
    id: Generated<bigint>;
    account_id: bigint;
    digest: Buffer;
    created_at: Generated<Date>;
    expires_at: Date | null;
    revoked_at: Date | null;
    /** The id of the first key in a chain of rotations. Null for the first key itself. */
    lineage: bigint | null;
    ban_lifted_at: Date | null;
    name: string | null;
    /** Null for a key of version 1.1 or earlier. */
    prefix: string | null;
    scope: Generated<KeyScope>;
    /** The UTC day. */
    last_used_on: string | null;
  };
  audit_log: {
    id: Generated<bigint>;
    at: Generated<Date>;
    actor: string;
    action: string;
    account_id: bigint;
    key_id: bigint | null;
    details: JSONColumnType<Readonly<Record<string, unknown>>>;
  };
  idempotency_keys: {
    account_id: bigint;
    key: string;
    request_digest: Buffer;
    pet_id: bigint;
    created_at: Date;
  };
  /** The units of each key in each UTC hour. */
  usage_hours: {
    key_id: bigint;
    hour: Date;
    api: "rest" | "graphql";
    /** The deprecated operation that was called; empty for all others together. */
    operation: string;
    admitted: bigint;
    /** In requests. */
    refused: bigint;
  };
  /** The processes that add to `usage_hours`, and the number of the last batch of each. */
  usage_writers: {
    id: string;
    batch: bigint;
    written_at: Date;
  };
  /** Each field of `Pet` is a column. Only these two columns differ in name or type. */
  pets: Omit<Pet, "id" | "categoryId"> & {
    id: Generated<bigint>;
    category_id: bigint;
  };
}
