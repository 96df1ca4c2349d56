import { createKeyRepository, digestApiKey, maxInt64, mintApiKey } from "@petstore/core";
import type { Command } from "commander";
import { type CommandContext, Refusal, withDatabase } from "./command-context.js";
import { findAccount } from "./find-account.js";
import { formatJson, formatRecord, formatRecords } from "./output.js";
import { keyFields } from "./record-fields.js";
import { duration, futureTime } from "./time-argument.js";

interface NewKeyOptions {
  test: boolean;
  expires?: Date;
  json: boolean;
}

export function addKeyCommands(program: Command, context: CommandContext): void {
  const key = program.command("key").description("the API keys of an account");

  asNewKey(key.command("issue <account>"), context)
    .description("make a key for the account of this name; it is shown once and stored nowhere")
    .action((name: string, { test, expires, json }: NewKeyOptions) =>
      withDatabase(context, async ({ database }) => {
        const account = await findAccount(database, name);
        const text = mintApiKey(test ? "test" : "live", context.randomBytes);
        const record = await createKeyRepository(database).add({
          accountId: account.id,
          digest: digestApiKey(text),
          ...(expires && { expiresAt: expires }),
        });
        context.print(formatRecord({ key: text, ...keyFields(record) }, json));
      }),
    );

  key
    .command("list <account>")
    .description("show the keys of the account of this name, without the keys themselves")
    .option("--json", "print JSON", false)
    .action((name: string, options: { json: boolean }) =>
      withDatabase(context, async ({ database }) => {
        const account = await findAccount(database, name);
        const records = await createKeyRepository(database).list(account.id);
        context.print(formatRecords(records.map(keyFields), options.json));
      }),
    );

  asNewKey(key.command("rotate <id>"), context)
    .description("make a key that takes another one's place; the old one works on for the grace, a ban holds for both")
    .requiredOption(
      "--grace <duration>",
      "how long the old key still works, such as 24h; never beyond its expiry",
      duration,
    )
    .action((id: string, { grace, test, expires, json }: NewKeyOptions & { grace: number }) =>
      withDatabase(context, async ({ database }) => {
        const text = mintApiKey(test ? "test" : "live", context.randomBytes);
        const rotated = await createKeyRepository(database).rotate({
          id: keyId(id),
          digest: digestApiKey(text),
          graceMs: grace,
          ...(expires && { expiresAt: expires }),
        });
        if (rotated === undefined) {
          throw new Refusal(
            "There is no working key of this id: what has ended is not rotated; petstore key issue makes one.",
          );
        }
        const { old, replacement } = rotated;
        const replaced = { id: `${old.id}`, endsAt: old.expiresAt?.toISOString() };
        const fresh = { key: text, ...keyFields(replacement) };
        context.print(
          json
            ? formatJson({ ...fresh, replaced })
            : formatRecord({ ...fresh, replaced: `key ${replaced.id}, which ends ${replaced.endsAt}` }, false),
        );
      }),
    );

  key
    .command("revoke <id>")
    .description("end a key for good, by its id")
    .option("--json", "print JSON", false)
    .action((id: string, options: { json: boolean }) =>
      withDatabase(context, async ({ database }) => {
        const record = await createKeyRepository(database).revoke(keyId(id));
        if (record === undefined) throw new Refusal(noSuchKey);
        context.print(formatRecord(keyFields(record), options.json));
      }),
    );

  key
    .command("expire <id>")
    .description("set when a key ends, earlier or later than before; without a time, now")
    .option("--at <time>", "in ISO 8601, such as 2027-01-31T00:00:00Z", futureTime(context.now))
    .option("--in <duration>", "from now on, such as 24h", duration)
    .option("--json", "print JSON", false)
    .action((id: string, { at, in: within = 0, json }: { at?: Date; in?: number; json: boolean }) =>
      withDatabase(context, async ({ database }) => {
        if (at !== undefined && within > 0) throw new Refusal("Give --at or --in, not both.");
        const keys = createKeyRepository(database);
        const record = await keys.expire(keyId(id), at === undefined ? { inMs: within } : { at });
        if (record === undefined) {
          throw new Refusal(
            (await keys.find(keyId(id))) === undefined ? noSuchKey : "This key was revoked, which is for good.",
          );
        }
        context.print(formatRecord(keyFields(record), json));
      }),
    );
}

export const noSuchKey = "There is no key of this id; petstore key list shows the ids.";

export function keyId(text: string): bigint {
  const id = /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
  if (id < 1n || id > maxInt64) throw new Refusal("A key's id is a whole number; petstore key list shows it.");
  return id;
}

function asNewKey(command: Command, { now }: CommandContext): Command {
  return command
    .option("--test", "mark it as a test key", false)
    .option("--expires <time>", "when it stops working, in ISO 8601, such as 2027-01-31T00:00:00Z", futureTime(now))
    .option("--json", "print JSON", false);
}
