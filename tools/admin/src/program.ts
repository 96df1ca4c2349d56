import { migrate } from "@petstore/core";
import { Command, CommanderError } from "commander";
import { addAccountCommands } from "./account-commands.js";
import { addBanCommands } from "./ban-commands.js";
import { addDoctorCommand } from "./doctor/doctor-command.js";
import { addKeyCommands } from "./key-commands.js";
import { addUsageCommands } from "./usage-commands.js";
import { explainingFaults, requireDatabaseConfig, type Surroundings } from "./workplace.js";

/** Runs one command line; the exit code is 0, 1 when it could not be done, 2 when it was not understood. */
export async function runPetstore(commandLine: readonly string[], surroundings: Surroundings): Promise<0 | 1 | 2> {
  let isSound = true;
  const program = createProgram(surroundings, () => {
    isSound = false;
  });
  try {
    await program.parseAsync(commandLine, { from: "user" });
    return isSound ? 0 : 1;
  } catch (error) {
    // Commander has already said what it did not understand, or printed the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    surroundings.complain(error instanceof Error ? error.message : `${error}`);
    return 1;
  }
}

function createProgram(surroundings: Surroundings, onUnsound: () => void): Command {
  const program = new Command("petstore")
    .description("Accounts, keys, bans, usage, migrations and the state of the pet store.")
    .addHelpText(
      "after",
      `
It works on the database that DATABASE_URL names or, without it, on that of the store \`npm start\` is running. What it
changes is true on every running instance within a second.`,
    )
    .showHelpAfterError("(--help shows what can be said)")
    .configureOutput({
      writeOut: (text) => surroundings.print(text.trimEnd()),
      writeErr: (text) => surroundings.complain(text.trimEnd()),
    })
    .exitOverride();

  program
    .command("migrate")
    .description("bring the database to the current schema")
    .option("--json", "print JSON", false)
    .action(async ({ json }: { json: boolean }) => {
      const { url } = await requireDatabaseConfig(surroundings);
      const applied = await explainingFaults(url, () => migrate(url));
      const sentence = applied.length === 0 ? "The schema is current." : `Applied ${applied.join(", ")}.`;
      surroundings.print(json ? JSON.stringify({ applied }) : sentence);
    });
  addAccountCommands(program, surroundings);
  addKeyCommands(program, surroundings);
  addBanCommands(program, surroundings);
  addUsageCommands(program, surroundings);
  addDoctorCommand(program, surroundings, onUnsound);
  return program;
}
