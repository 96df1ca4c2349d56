import { readFileSync } from "node:fs";

export interface WithSecrets {
  readonly environment: Readonly<Record<string, string>>;
  /** One line for each file that cannot stand for its variable. */
  readonly faults: readonly string[];
}

/**
 * Reads each secret from the file that `<name>_FILE` names, as containers are handed theirs; a line break at its end is
 * not part of it. Faults name variables, never a value.
 */
export function readSecretFiles(
  environment: Readonly<Record<string, string>>,
  secrets: readonly string[],
): WithSecrets {
  const read: Record<string, string> = { ...environment };
  const faults: string[] = [];
  for (const name of secrets) {
    const file = environment[`${name}_FILE`];
    if (file === undefined) continue;
    if (environment[name] !== undefined) faults.push(`${name} and ${name}_FILE are both set: leave one out`);
    else {
      const content = contentOf(file);
      if (typeof content === "string" && content !== "") read[name] = content;
      else
        faults.push(
          `${name}_FILE names a file that ${content === "" ? "is empty" : `cannot be read (${content.code})`}`,
        );
    }
  }
  return { environment: read, faults };
}

function contentOf(file: string): string | { readonly code: string } {
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    // Told as a fault of the configuration, with this code.
    return { code: (error as NodeJS.ErrnoException).code ?? "unknown" };
  }
}
