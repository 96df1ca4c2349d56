import type { Selectable } from "kysely";
import type { Database } from "../database/database.js";
import { statement } from "../database/statement.js";
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
  async function save(write: typeof insertAccount, account: NewAccount): Promise<Account | undefined> {
    const { name, plan, customLimits } = account;
    const limits = { minuteLimit: customLimits?.perMinute ?? null, dayLimit: customLimits?.perDay ?? null };
    const [row] = await database.run(write, { name, plan, ...limits });
    return row && toAccount(row);
  }

  return {
    create: (account) => save(insertAccount, account),
    setPlan: (change) => save(updatePlan, change),
    async findByName(name) {
      const [row] = await database.run(selectAccountByName, { name });
      return row && toAccount(row);
    },
    async list() {
      return (await database.run(selectAccounts, {})).map(toAccount);
    },
  };
}

type AccountRow = Selectable<Tables["accounts"]>;

interface SavedAccount {
  name: string;
  plan: Account["plan"];
  minuteLimit: number | null;
  dayLimit: number | null;
}

const insertAccount = statement<SavedAccount, AccountRow>("write", "insert-account", (db, parameter) =>
  db
    .insertInto("accounts")
    .values({
      name: parameter("name"),
      plan: parameter("plan"),
      minute_limit: parameter("minuteLimit"),
      day_limit: parameter("dayLimit"),
    })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returningAll(),
);

const updatePlan = statement<SavedAccount, AccountRow>("write", "update-plan", (db, parameter) =>
  db
    .updateTable("accounts")
    .set({ plan: parameter("plan"), minute_limit: parameter("minuteLimit"), day_limit: parameter("dayLimit") })
    .where("name", "=", parameter("name"))
    .returningAll(),
);

const selectAccountByName = statement<{ name: string }, AccountRow>("read", "select-account-by-name", (db, parameter) =>
  db.selectFrom("accounts").selectAll().where("name", "=", parameter("name")),
);

const selectAccounts = statement<Record<never, never>, AccountRow>("read", "select-accounts", (db) =>
  db.selectFrom("accounts").selectAll().orderBy("id"),
);

function toAccount(row: AccountRow): Account {
  return { id: row.id, name: row.name, plan: row.plan, createdAt: row.created_at, ...customLimitsOf(row) };
}

/** The schema lets an account have both limits or neither. */
export function customLimitsOf(row: Pick<AccountRow, "minute_limit" | "day_limit">): Pick<Account, "customLimits"> {
  if (row.minute_limit === null || row.day_limit === null) return {};
  return { customLimits: { perMinute: row.minute_limit, perDay: row.day_limit } };
}
