import { readFileSync } from "node:fs";
import { migrate, readMigrations } from "@petstore/core";
import { Command, CommanderError } from "commander";
import { addAccountCommands } from "./account-commands.js";
import { addAuditCommand } from "./audit-command.js";
import { addBanCommands } from "./ban-commands.js";
import {
  type CommandContext,
  explainingFaults,
  type Run,
  requireDatabaseConfig,
  withDatabase,
} from "./command-context.js";
import { addDoctorCommand } from "./doctor/doctor-command.js";
import { addKeyCommands } from "./key-commands.js";
import type { Output } from "./output.js";
import { addRequirementsCommand } from "./requirements-command.js";
import { addUsageCommands } from "./usage-commands.js";

/** Runs one command line. The exit code is 0, 1 if the command failed, and 2 if the command line is wrong. */
export async function runPetstore(commandLine: readonly string[], context: CommandContext): Promise<0 | 1 | 2> {
  const program = createProgram(context);
  try {
    await program.parseAsync(commandLine, { from: "user" });
    return 0;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const message = error instanceof Error ? error.message : `${error}`;
    context.complain(program.opts().json ? JSON.stringify({ error: { message } }) : message);
    return 1;
  }
}

function createProgram(context: CommandContext): Command {
  const program = new Command("petstore")
    .description("Manages the accounts, API keys and bans of the pet store, and its database.")
    .version(version())
    .addHelpText(
      "after",
      `
It uses the database of DATABASE_URL or, without it, the database of the running \`npm start\`. A change takes effect on
every running instance within a second.

Exit codes: 0 success, 1 the command failed, 2 the command line is wrong. The reason is on standard error. With --json, that of
a failed command is {"error": {"message": "..."}}.`,
    )
    .option("--json", "print JSON", false)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError("(--help shows the commands and options)")
    // The suggestion may do the opposite: `ban lift` for `ban list`.
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.complain(text.trimEnd()),
    })
    .exitOverride();

  const print = ({ text, json }: Output) => context.print(program.opts().json ? JSON.stringify(json, null, 2) : text);
  const run: Run = async (work) => print(await withDatabase(context, work));
  program
    .command("migrate")
    .description("bring the database to the current schema; needs the owner of the tables")
    .action(async () => {
      const { url } = await requireDatabaseConfig(context);
      const applied = await explainingFaults(url, () => migrate(url));
      const { unknown } = await explainingFaults(url, () => readMigrations(url));
      const lines = [
        applied.length === 0 ? "The schema is current." : `Applied ${applied.join(", ")}.`,
        ...(unknown.length === 0
          ? []
          : [`A newer release has applied ${unknown.join(", ")}, which this one does not know.`]),
      ];
      print({ text: lines.join("\n"), json: { applied, unknown } });
    });
  addAccountCommands(program, run);
  addKeyCommands(program, run, context);
  addBanCommands(program, run, context);
  addUsageCommands(program, run, context);
  addAuditCommand(program, run);
  addDoctorCommand(program, context, print);
  addRequirementsCommand(program, print);
  return program;
}

function version(): string {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
