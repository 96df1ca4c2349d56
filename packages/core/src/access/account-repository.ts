import { type AliasedRawBuilder, sql } from "kysely";
import type { Database } from "../database/database.js";
import { type Statement, statement } from "../database/statement.js";
import type { Tables } from "../database/tables.js";

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
}

export type NewAccount = Pick<Account, "name" | "plan" | "customLimits">;

export interface AccountRepository {
  /** `undefined` if the name is taken. */
  create(account: NewAccount): Promise<Account | undefined>;
  findByName(name: string): Promise<Account | undefined>;
  list(): Promise<Account[]>;
  /** The account on its new plan; `undefined` if no account has this name. */
  setPlan(change: NewAccount): Promise<Account | undefined>;
}

export function createAccountRepository(database: Database): AccountRepository {
  async function run<Values>(query: Statement<Values, Row<Account>>, values: Values): Promise<Account[]> {
    return (await database.run(query, values)).map(withoutNulls);
  }

  return {
    create: async (account) => (await run(insertAccount, toSaved(account)))[0],
    setPlan: async (change) => (await run(updatePlan, toSaved(change)))[0],
    findByName: async (name) => (await run(selectAccountByName, { name }))[0],
    list: () => run(selectAccounts, {}),
  };
}

/** A record as PostgreSQL returns it: an absent field is null. */
export type Row<Fields> = { [Name in keyof Fields]-?: Fields[Name] | null };

export function withoutNulls<Fields>(row: Row<Fields>): Fields {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Fields;
}

/** The schema lets an account have both limits or neither. */
export const customLimitsColumn: AliasedRawBuilder<CustomLimits | null, "customLimits"> = sql<CustomLimits | null>`
  case when minute_limit is not null then json_build_object('perMinute', minute_limit, 'perDay', day_limit) end
`.as("customLimits");

const accountColumns = ["id", "name", "plan", customLimitsColumn, "created_at as createdAt"] as const;

interface SavedAccount extends Pick<Account, "name" | "plan"> {
  readonly minuteLimit: number | null;
  readonly dayLimit: number | null;
}

function toSaved({ name, plan, customLimits }: NewAccount): SavedAccount {
  return { name, plan, minuteLimit: customLimits?.perMinute ?? null, dayLimit: customLimits?.perDay ?? null };
}

const insertAccount = statement<SavedAccount, Row<Account>>("write", "insert-account", (db, parameter) =>
  db
    .insertInto("accounts")
    .values({
      name: parameter("name"),
      plan: parameter("plan"),
      minute_limit: parameter("minuteLimit"),
      day_limit: parameter("dayLimit"),
    })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returning(accountColumns),
);

const updatePlan = statement<SavedAccount, Row<Account>>("write", "update-plan", (db, parameter) =>
  db
    .updateTable("accounts")
    .set({ plan: parameter("plan"), minute_limit: parameter("minuteLimit"), day_limit: parameter("dayLimit") })
    .where("name", "=", parameter("name"))
    .returning(accountColumns),
);

const selectAccountByName = statement<{ name: string }, Row<Account>>(
  "read",
  "select-account-by-name",
  (db, parameter) => db.selectFrom("accounts").select(accountColumns).where("name", "=", parameter("name")),
);

const selectAccounts = statement<Record<never, never>, Row<Account>>("read", "select-accounts", (db) =>
  db.selectFrom("accounts").select(accountColumns).orderBy("id"),
);
