import { randomBytes } from "node:crypto";
import {
  type Account,
  createAccountRepository,
  createKeyRepository,
  type Database,
  digestApiKey,
  type KeyRecord,
  maxInt64,
  mintApiKey,
} from "@petstore/core";
import { type Command, InvalidArgumentError } from "commander";
import { type Fields, formatRecord, formatRecords } from "./output.js";
import { Refusal, type Surroundings, withDatabase } from "./workplace.js";

interface IssueOptions {
  test: boolean;
  expires?: Date;
  json: boolean;
}

export function addKeyCommands(program: Command, surroundings: Surroundings): void {
  const key = program.command("key").description("the API keys of an account");

  key
    .command("issue <account>")
    .description("make a key for the account of this name; it is shown once and stored nowhere")
    .option("--test", "mark it as a test key", false)
    .option("--expires <time>", "when it stops working, in ISO 8601, such as 2027-01-31T00:00:00Z", futureTime)
    .option("--json", "print JSON", false)
    .action((name: string, options: IssueOptions) =>
      withDatabase(surroundings, async (database) => {
        const account = await findAccount(database, name);
        const text = mintApiKey(options.test ? "test" : "live", randomBytes);
        const record = await createKeyRepository(database).add({
          accountId: account.id,
          digest: digestApiKey(text),
          ...(options.expires && { expiresAt: options.expires }),
        });
        surroundings.print(formatRecord({ key: text, ...fields(record) }, options.json));
      }),
    );

  key
    .command("list <account>")
    .description("show the keys of the account of this name, without the keys themselves")
    .option("--json", "print JSON", false)
    .action((name: string, options: { json: boolean }) =>
      withDatabase(surroundings, async (database) => {
        const account = await findAccount(database, name);
        const records = await createKeyRepository(database).list(account.id);
        surroundings.print(formatRecords(records.map(fields), options.json));
      }),
    );

  key
    .command("revoke <id>")
    .description("end a key for good, by its id; every instance refuses it within 5 seconds")
    .option("--json", "print JSON", false)
    .action((id: string, options: { json: boolean }) =>
      withDatabase(surroundings, async (database) => {
        const record = await createKeyRepository(database).revoke(keyId(id), new Date());
        if (record === undefined) throw new Refusal("There is no key of this id; petstore key list shows the ids.");
        surroundings.print(formatRecord(fields(record), options.json));
      }),
    );
}

async function findAccount(database: Database, name: string): Promise<Account> {
  const account = await createAccountRepository(database).findByName(name);
  if (account === undefined)
    throw new Refusal("There is no account of this name; petstore account list shows the names.");
  return account;
}

function fields(record: KeyRecord): Fields {
  return {
    id: `${record.id}`,
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt?.toISOString(),
    revokedAt: record.revokedAt?.toISOString(),
  };
}

function keyId(text: string): bigint {
  const id = /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
  if (id < 1n || id > maxInt64) throw new Refusal("A key's id is a whole number; petstore key list shows it.");
  return id;
}

function futureTime(text: string): Date {
  const [date] = /^\d{4}-\d\d-\d\d(?=$|T[\d:.]+(Z|[+-]\d\d:\d\d)$)/.exec(text) ?? [];
  const time = new Date(text);
  // JavaScript takes 30 February for 2 March.
  const isDay = date !== undefined && !Number.isNaN(time.getTime()) && new Date(date).toISOString().startsWith(date);
  if (!isDay || time.getTime() <= Date.now()) throw new InvalidArgumentError("It must be a time to come, in ISO 8601.");
  return time;
}
