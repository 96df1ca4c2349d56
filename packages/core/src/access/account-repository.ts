import { type AliasedRawBuilder, sql } from "kysely";
import type { Database } from "../database/database.js";
import { type Statement, statement } from "../database/statement.js";
import { type Row, type Tables, withoutNulls } from "../database/tables.js";
import { auditedStatement } from "./audit-log.js";

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

type AgreedLimits = Required<Pick<Account, "name" | "customLimits">>;

export interface AccountRepository {
  /** `undefined` if the name is taken. */
  create(account: NewAccount): Promise<Account | undefined>;
  findByName(name: string): Promise<Account | undefined>;
  list(): Promise<Account[]>;
  /** The account on its new plan; `undefined` if no account has this name. */
  setPlan(change: NewAccount): Promise<Account | undefined>;
  /** The account with its new limits; `undefined` if no Enterprise account has this name. */
  setLimits(change: AgreedLimits): Promise<Account | undefined>;
  /** Refuses the requests of all its keys. `undefined` if no account has this name, or it is suspended already. */
  suspend(name: string): Promise<Account | undefined>;
  /** Ends the suspension. `undefined` if no account has this name, or it is not suspended. */
  resume(name: string): Promise<Account | undefined>;
}

/** `actor` makes the changes, for the audit log. */
export function createAccountRepository(database: Database, actor: string): AccountRepository {
  async function run<Values>(query: Statement<Values, Row<Account>>, values: Values): Promise<Account[]> {
    return (await database.run(query, values)).map(withoutNulls);
  }

  return {
    create: async (account) => (await run(insertAccount, { ...toSaved(account), actor }))[0],
    setPlan: async (change) => (await run(updatePlan, { ...toSaved(change), actor }))[0],
    setLimits: async (change) => (await run(updateLimits, { ...toSaved({ plan: "enterprise", ...change }), actor }))[0],
    suspend: async (name) => (await run(suspendAccount, { name, actor }))[0],
    resume: async (name) => (await run(resumeAccount, { name, actor }))[0],
    findByName: async (name) => (await run(selectAccountByName, { name }))[0],
    list: () => run(selectAccounts, {}),
  };
}

/** The schema lets an account have both limits or neither. */
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

interface SavedAccount extends Pick<Account, "name" | "plan"> {
  readonly minuteLimit: number | null;
  readonly dayLimit: number | null;
}

function toSaved({ name, plan, customLimits }: NewAccount): SavedAccount {
  return { name, plan, minuteLimit: customLimits?.perMinute ?? null, dayLimit: customLimits?.perDay ?? null };
}

const insertAccount = auditedStatement<SavedAccount, Row<Account>>("account", "account create", (db, parameter) => {
  const inserted = db
    .insertInto("accounts")
    .values({
      name: parameter("name"),
      plan: parameter("plan"),
      minute_limit: parameter("minuteLimit"),
      day_limit: parameter("dayLimit"),
    })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returning(accountColumns);
  return sql`changed as (${inserted})`;
});

const updatePlan = auditedStatement<SavedAccount, Row<Account>>("account", "account set-plan", (db, parameter) => {
  const updated = db
    .updateTable("accounts")
    .set({ plan: parameter("plan"), minute_limit: parameter("minuteLimit"), day_limit: parameter("dayLimit") })
    .where("name", "=", parameter("name"))
    .returning(accountColumns);
  return sql`changed as (${updated})`;
});

const updateLimits = auditedStatement<SavedAccount, Row<Account>>("account", "account set-limits", (db, parameter) => {
  const updated = db
    .updateTable("accounts")
    .set({ minute_limit: parameter("minuteLimit"), day_limit: parameter("dayLimit") })
    .where("name", "=", parameter("name"))
    .where("plan", "=", parameter("plan"))
    .returning(accountColumns);
  return sql`changed as (${updated})`;
});

const suspendAccount = auditedStatement<{ name: string }, Row<Account>>(
  "account",
  "account suspend",
  (db, parameter) => {
    const updated = db
      .updateTable("accounts")
      .set({ suspended_at: sql`now()` })
      .where("name", "=", parameter("name"))
      .where("suspended_at", "is", null)
      .returning(accountColumns);
    return sql`changed as (${updated})`;
  },
);

const resumeAccount = auditedStatement<{ name: string }, Row<Account>>("account", "account resume", (db, parameter) => {
  const updated = db
    .updateTable("accounts")
    .set({ suspended_at: null })
    .where("name", "=", parameter("name"))
    .where("suspended_at", "is not", null)
    .returning(accountColumns);
  return sql`changed as (${updated})`;
});

const selectAccountByName = statement<{ name: string }, Row<Account>>(
  "read",
  "select-account-by-name",
  (db, parameter) => db.selectFrom("accounts").select(accountColumns).where("name", "=", parameter("name")),
);

const selectAccounts = statement<Record<never, never>, Row<Account>>("read", "select-accounts", (db) =>
  db.selectFrom("accounts").select(accountColumns).orderBy("id"),
);
