import { type AliasedRawBuilder, sql } from "kysely";
import type { Database } from "../database/database.js";
import { sqlState } from "../database/database-errors.js";
import { runUnprepared } from "../database/run-unprepared.js";
import { type Query, queryBuilder, type Row } from "../database/statement.js";
import type { Tables } from "../database/tables.js";
import { runAudited } from "./audit-log.js";

/** Limits agreed with one Enterprise account, in units per window. */
export interface CustomLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

export interface Account {
  readonly id: bigint;
  readonly name: string;
  readonly plan: Tables["accounts"]["plan"];
  /** Present for Enterprise only. */
  readonly customLimits?: CustomLimits;
  readonly createdAt: Date;
  /** Present while the account is suspended. */
  readonly suspendedAt?: Date;
}

export type NewAccount = Pick<Account, "name" | "plan" | "customLimits">;

export interface AccountRepository {
  /** `undefined` if the name is taken. */
  create(account: NewAccount): Promise<Account | undefined>;
  find(id: bigint): Promise<Account | undefined>;
  findByName(name: string): Promise<Account | undefined>;
  list(): Promise<Account[]>;
  /** The account with its new plan and limits; `undefined` if no account has this name. */
  setPlan(change: NewAccount): Promise<Account | undefined>;
  /** Disables all keys of the account. `undefined` if no account has this name, or the account is already suspended. */
  suspend(name: string): Promise<Account | undefined>;
  /** Ends the suspension. `undefined` if no account has this name, or the account is not suspended. */
  resume(name: string): Promise<Account | undefined>;
  /** `taken` if another account has the new name. `undefined` if no account has the old one, or if both are the same. */
  rename(name: string, newName: string): Promise<Account | "taken" | undefined>;
  /**
   * Deletes the account with its keys and idempotency keys. Its pets and its entries in the audit log stay. Resolves with the
   * account as it was; `undefined` if there is none, or if one of its keys still works. A key that is issued at the same
   * moment may be deleted too.
   */
  delete(id: bigint): Promise<Account | undefined>;
}

export function createAccountRepository(database: Pick<Database, "run">, actor: string): AccountRepository {
  async function run(action: string, change: Query<Row<Account>>): Promise<Account | undefined> {
    const [account] = await runAudited<Account>(database, { subject: "account", action, actor, change });
    return account;
  }

  const accounts = queryBuilder.selectFrom("accounts").select(accountColumns);
  const update = (name: string) =>
    queryBuilder.updateTable("accounts").where("name", "=", name).returning(accountColumns);

  return {
    create({ name, plan, customLimits }) {
      const inserted = queryBuilder
        .insertInto("accounts")
        .values({ name, plan, ...limitColumns(customLimits) })
        .onConflict((conflict) => conflict.column("name").doNothing())
        .returning(accountColumns);
      return run("account create", inserted);
    },
    find: async (id) => (await runUnprepared<Account>(database, "read", accounts.where("id", "=", id)))[0],
    findByName: async (name) => (await runUnprepared<Account>(database, "read", accounts.where("name", "=", name)))[0],
    list: () => runUnprepared<Account>(database, "read", accounts.orderBy("id")),
    setPlan: ({ name, plan, customLimits }) =>
      run("account set-plan", update(name).set({ plan, ...limitColumns(customLimits) })),
    suspend: (name) =>
      run("account suspend", update(name).set({ suspended_at: sql`now()` }).where("suspended_at", "is", null)),
    resume: (name) =>
      run("account resume", update(name).set({ suspended_at: null }).where("suspended_at", "is not", null)),
    async rename(name, newName) {
      try {
        return await run("account rename", update(name).set({ name: newName }).where("name", "<>", newName));
      } catch (error) {
        if (sqlState(error) === uniqueViolation) return "taken";
        throw error;
      }
    },
    delete: (id) =>
      run(
        "account delete",
        queryBuilder.deleteFrom("accounts").where("id", "=", id).where(hasNoWorkingKey).returning(accountColumns),
      ),
  };
}

const uniqueViolation = "23505";

const hasNoWorkingKey = sql<boolean>`not exists (
  select from api_keys
  where account_id = accounts.id and revoked_at is null and coalesce(expires_at > now(), true)
)`;

/** Tests one limit only, because the schema lets an account have both limits or neither. */
export const customLimitsColumn: AliasedRawBuilder<CustomLimits | null, "customLimits"> = sql<CustomLimits | null>`
  case when minute_limit is not null then json_build_object('perMinute', minute_limit, 'perDay', day_limit) end
`.as("customLimits");

const accountColumns = [
  "id",
  "name",
  "plan",
  customLimitsColumn,
  "created_at as createdAt",
  "suspended_at as suspendedAt",
] as const;

function limitColumns(limits: CustomLimits | undefined): Pick<Tables["accounts"], "minute_limit" | "day_limit"> {
  return { minute_limit: limits?.perMinute ?? null, day_limit: limits?.perDay ?? null };
}
