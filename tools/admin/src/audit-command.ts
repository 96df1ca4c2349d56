import { type AuditEntry, listAuditEntries } from "@petstore/core";
import type { Command } from "commander";
import { wholeNumber } from "./arguments.js";
import { findAccount, type Run } from "./command-context.js";
import { tableOutput } from "./output.js";

export function addAuditCommand(program: Command, run: Run): void {
  program
    .command("audit")
    .description("show the changes of accounts, keys and bans, and who made them; the newest first")
    .option("--account <name>", "only changes of this account and its keys")
    .option("--limit <entries>", "at most this many entries", wholeNumber, 50)
    .action(({ account, limit }: { account?: string; limit: number }) =>
      run(async (opened) => {
        const accountId = account === undefined ? undefined : (await findAccount(opened, account)).id;
        const entries = (await listAuditEntries(opened.database, { accountId, limit })).map(entryFields);
        const { text } = tableOutput(entries.map((entry) => ({ ...entry, details: detailsText(entry.details) })));
        return { text, json: entries };
      }),
    );
}

function entryFields({ at, actor, action, accountId, accountName, keyId, details }: AuditEntry) {
  return {
    at: at.toISOString(),
    actor,
    action,
    account: accountName ?? `(deleted, id ${accountId})`,
    key: keyId === undefined ? undefined : `${keyId}`,
    details,
  };
}

function detailsText(details: AuditEntry["details"]): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}
