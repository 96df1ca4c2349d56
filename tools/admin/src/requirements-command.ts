import { type FoundRequirement, listRequirements } from "@petstore/core";
import type { Command } from "commander";
import type { Output } from "./output.js";

/** Needs no database. */
export function addRequirementsCommand(program: Command, print: (output: Output) => void): void {
  program
    .command("requirements")
    .description("list what the statements and migrations need of PostgreSQL, and which of them need it")
    .action(async () => {
      const found = await listRequirements();
      print({ text: found.map(describe).join("\n\n"), json: found });
    });
}

function describe({ name, purpose, neededBy }: FoundRequirement): string {
  const statements = neededBy.length === 0 ? "(no statement shows it)" : neededBy.join(", ");
  return `${name}\n  for: ${purpose}\n  in:  ${statements}`;
}
