import { type Account, type KeyRecord, type KeyScope, keyScopes, mintApiKey, modeOf } from "@petstore/core";
import { type Command, Option } from "commander";
import { checkName, duration, futureTime, keyId } from "./arguments.js";
import { type CommandContext, findAccount, type OpenedDatabase, Refusal, type Run } from "./command-context.js";
import { type Fields, type Output, recordOutput, tableOutput } from "./output.js";
import { readAccountState, strictest } from "./penalties.js";

interface NewKeyOptions {
  test: boolean;
  name?: string;
  scope: KeyScope;
  expires?: Date;
}

export function addKeyCommands(program: Command, run: Run, context: CommandContext): void {
  const key = program.command("key").description("the API keys of accounts");

  key
    .command("issue <account>")
    .description("create a key for an account; the key is shown only now, because it is not stored")
    .option("--name <name>", "a name that tells its purpose, such as website")
    .addOption(scopeOption().default("both"))
    .option("--test", "create a test key, which works only in a test store, such as npm start", false)
    .option(...expiresOption(context))
    .action((accountName: string, { test, name, scope, expires }: NewKeyOptions) =>
      run(async (opened) => {
        if (name !== undefined) checkName(name);
        const account = await findAccount(opened, accountName);
        const text = mintApiKey(test ? "test" : "live", context.randomBytes);
        const record = await opened.keys.add({
          accountId: account.id,
          text,
          scope,
          ...(name !== undefined && { name }),
          ...(expires && { expiresAt: expires }),
        });
        return recordOutput({ key: text, ...keyFields(record) });
      }),
    );

  key
    .command("list <account>")
    .description("show the ids, names, first characters, bans and strikes of the keys of an account")
    .action((name: string) => run(async (opened) => listKeys(opened, context, await findAccount(opened, name))));

  key
    .command("find [text]")
    .description(
      "show the account and the id of a key, by its text or its first 18 characters; without them, reads standard input",
    )
    .action((text: string | undefined) =>
      run(async ({ keys }) => {
        const found = await keys.search(checkSearched((text ?? (await context.readInput())).trim()));
        if (found.length === 0) throw new Refusal("This store has no such key.");
        return tableOutput(found.map((record) => ({ account: record.accountName, ...keyFields(record) })));
      }),
    );

  key
    .command("change <id>")
    .description("change the name or the scope of a key, by its id")
    .option("--name <name>", "its new name")
    .addOption(scopeOption())
    .action((id: string, values: { name?: string; scope?: KeyScope }) =>
      run(async ({ keys }) => {
        if (values.name === undefined && values.scope === undefined)
          throw new Refusal("Give --name, --scope, or both.");
        if (values.name !== undefined) checkName(values.name);
        return keyOutput(await keys.change(keyId(id), values));
      }),
    );

  key
    .command("rotate <id>")
    .description("replace a key by a new one with the same mode, name and scope; a ban holds for both")
    .option(
      "--grace <duration>",
      "required: how long the old key continues to work, such as 24h; at most until it expires",
      duration,
    )
    .option(...expiresOption(context))
    .action((id: string, { grace, expires }: { grace?: number; expires?: Date }, command: Command) => {
      // Commander's own message about a required option has no example.
      if (grace === undefined) {
        command.error("error: say how long the old key continues to work, such as --grace 24h", { exitCode: 2 });
      }
      return run(async ({ keys }) => {
        const current = await keys.find(keyId(id));
        if (current !== undefined) refuseReplaced(current, await keys.list(current.accountId), context.now());
        // A key of an earlier version has no prefix; those were nearly all live keys.
        const { prefix = "" } = current ?? {};
        const text = mintApiKey(modeOf(prefix), context.randomBytes);
        const rotated = await keys.rotate({
          id: keyId(id),
          text,
          graceMs: grace,
          ...(expires && { expiresAt: expires }),
        });
        if (rotated === undefined) {
          throw new Refusal(
            "No working key has this id. A key that has ended cannot be rotated; petstore key issue creates a new one.",
          );
        }
        const { old, replacement } = rotated;
        const replaced = { id: `${old.id}`, endsAt: old.expiresAt?.toISOString() };
        const fresh = { key: text, ...keyFields(replacement) };
        const { text: lines } = recordOutput({
          ...fresh,
          replaced: `key ${replaced.id}, which ends ${replaced.endsAt}`,
        });
        return { text: lines, json: { ...fresh, replaced } };
      });
    });

  key
    .command("revoke [id]")
    .description("end a key for ever, by its id, or all keys of an account")
    .option("--all <account>", "end all keys of the account of this name")
    .action((id: string | undefined, { all }: { all?: string }) =>
      run(async (opened) => {
        if ((id === undefined) === (all === undefined)) throw new Refusal("Give the id of a key, or --all <account>.");
        if (all === undefined) return keyOutput(await opened.keys.revoke(keyId(id ?? "")));
        const account = await findAccount(opened, all);
        return tableOutput((await opened.keys.revokeAll(account.id)).map(keyFields));
      }),
    );

  key
    .command("expire <id>")
    .description("set when a key ends, earlier or later than before; without an option, it ends now")
    .option("--at <time>", "when, in ISO 8601, such as 2027-01-31T00:00:00Z", futureTime(context.now))
    .option("--in <duration>", "after this time, such as 24h", duration)
    .action((id: string, { at, in: inMs }: { at?: Date; in?: number }) =>
      run(async ({ keys }) => {
        if (at !== undefined && inMs !== undefined) throw new Refusal("Give --at or --in, not both.");
        const record = await keys.expire(keyId(id), at === undefined ? { inMs: inMs ?? 0 } : { at });
        if (record === undefined && (await keys.find(keyId(id))) !== undefined)
          throw new Refusal("This key was revoked, and cannot work again.");
        return keyOutput(record);
      }),
    );
}

/** A second rotation of one key leaves two new keys that work, and the first of them is easily forgotten. */
function refuseReplaced(current: KeyRecord, ofAccount: readonly KeyRecord[], nowMs: number): void {
  const isWorking = ({ revokedAt, expiresAt }: KeyRecord) => !revokedAt && (!expiresAt || expiresAt.getTime() > nowMs);
  const later = ofAccount.filter(({ id, lineage }) => lineage === current.lineage && id > current.id);
  const successor = later.findLast(isWorking);
  if (successor === undefined || !isWorking(current)) return;
  throw new Refusal(
    `Key ${successor.id} comes from a later rotation of this key. Rotate that one, or revoke it first.`,
  );
}

/** Refuses if there is no such key. */
export function keyOutput(record: KeyRecord | undefined): Output {
  return recordOutput(keyFields(record ?? noSuchKey()));
}

export function noSuchKey(): never {
  throw new Refusal("No key has this id; petstore key list shows the ids.");
}

/** The keys, with their bans and strikes if an instance is running. */
async function listKeys(opened: OpenedDatabase, context: CommandContext, account: Account): Promise<Output> {
  const keys = await opened.keys.list(account.id);
  if (keys.length === 0) return tableOutput([]);
  const { penalties, gap, responses } = await readAccountState(opened, context, account, keys);
  if (gap !== undefined) context.complain(`Bans and strikes may be missing. ${gap}`);
  if (responses.length === 0) return tableOutput(keys.map(keyFields));
  return tableOutput(
    keys.map((key) => ({
      ...keyFields(key),
      ...strictest(penalties.filter((penalty) => penalty.key === `${key.lineage}`)),
    })),
  );
}

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

function scopeOption(): Option {
  return new Option("--scope <scope>", "what the key may do: read lists pets, write adds pets").choices(keyScopes);
}

function expiresOption({ now }: CommandContext): [flags: string, description: string, parse: (text: string) => Date] {
  return ["--expires <time>", "when it stops working, in ISO 8601, such as 2027-01-31T00:00:00Z", futureTime(now)];
}

/** Repeats no part of the text, which may be a key. */
function checkSearched(text: string): string {
  if (/^pets_(live|test)_[0-9A-Za-z]{8}/.test(text)) return text;
  throw new Refusal("This is no API key: a key begins with pets_live_ or pets_test_ and 8 letters or digits.");
}
