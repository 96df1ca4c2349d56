import type { Database } from "../database/database.js";
import { queryAlone, statement } from "../database/statement.js";
import type { Tables } from "../database/tables.js";

/** Numbers agreed with one Enterprise account, units per window. */
export interface CustomLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

export interface Account {
  readonly id: bigint;
  readonly name: string;
  readonly plan: Tables["accounts"]["plan"];
  /** Present for Enterprise, and for no other plan. */
  readonly customLimits?: CustomLimits;
  readonly createdAt: Date;
}

export type NewAccount = Pick<Account, "name" | "plan" | "customLimits">;

export interface AccountRepository {
  /** `undefined` when the name is taken. */
  create(account: NewAccount): Promise<Account | undefined>;
  findByName(name: string): Promise<Account | undefined>;
  list(): Promise<Account[]>;
  /** The account on its new plan; `undefined` when there is none of this name. */
  setPlan(change: NewAccount): Promise<Account | undefined>;
}

export function createAccountRepository(database: Database): AccountRepository {
  return {
    async create({ name, plan, customLimits }) {
      const [row] = await database.run(insertAccount, {
        name,
        plan,
        minuteLimit: customLimits?.perMinute ?? null,
        dayLimit: customLimits?.perDay ?? null,
      });
      return row && toAccount(row);
    },
    async findByName(name) {
      const [row] = await database.run(selectAccountByName, { name });
      return row && toAccount(row);
    },
    async setPlan({ name, plan, customLimits }) {
      const [row] = await database.run(updatePlan, {
        name,
        plan,
        minuteLimit: customLimits?.perMinute ?? null,
        dayLimit: customLimits?.perDay ?? null,
      });
      return row && toAccount(row);
    },
    async list() {
      return (await database.run(selectAccounts, {})).map(toAccount);
    },
  };
}

interface AccountRow {
  id: bigint;
  name: string;
  plan: Tables["accounts"]["plan"];
  minute_limit: number | null;
  day_limit: number | null;
  created_at: Date;
}

interface InsertAccount {
  name: string;
  plan: Tables["accounts"]["plan"];
  minuteLimit: number | null;
  dayLimit: number | null;
}

const insertAccount = statement<InsertAccount, AccountRow>("insert-account", (db, slot) =>
  db
    .insertInto("accounts")
    .values({
      name: slot("name"),
      plan: slot("plan"),
      minute_limit: slot("minuteLimit"),
      day_limit: slot("dayLimit"),
    })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returningAll(),
);

const updatePlan = statement<InsertAccount, AccountRow>("update-plan", (db, slot) =>
  db
    .updateTable("accounts")
    .set({ plan: slot("plan"), minute_limit: slot("minuteLimit"), day_limit: slot("dayLimit") })
    .where("name", "=", slot("name"))
    .returningAll(),
);

const selectAccountByName = queryAlone<{ name: string }, AccountRow>("select-account-by-name", (db, slot) =>
  db.selectFrom("accounts").selectAll().where("name", "=", slot("name")),
);

const selectAccounts = queryAlone<Record<never, never>, AccountRow>("select-accounts", (db) =>
  db.selectFrom("accounts").selectAll().orderBy("id"),
);

function toAccount(row: AccountRow): Account {
  const account = { id: row.id, name: row.name, plan: row.plan, createdAt: row.created_at };
  const customLimits = toCustomLimits(row.minute_limit, row.day_limit);
  return customLimits === undefined ? account : { ...account, customLimits };
}

/** The schema lets an account have both numbers or neither. */
export function toCustomLimits(minuteLimit: number | null, dayLimit: number | null): CustomLimits | undefined {
  return minuteLimit === null || dayLimit === null ? undefined : { perMinute: minuteLimit, perDay: dayLimit };
}
