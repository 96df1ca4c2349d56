import { readFileSync } from "node:fs";
import type { z } from "zod";

/** Names and values as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Throws an Error with one line for every faulty variable, by name: values are never shown. A setting whose metadata says
 * `isSecret` may also be in the file that `<name>_FILE` names, without the line break at its end.
 */
export function readSettings<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: Environment,
): z.output<z.ZodObject<Shape>> {
  // An empty variable counts as absent, as in the shell's ${NAME:-default}.
  const values = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  const fileFaults = new Map<string, string>();
  for (const [name, setting] of Object.entries(schema.shape)) {
    const file = values[`${name}_FILE`];
    if (file === undefined || (setting as z.ZodType).meta()?.isSecret !== true) continue;
    const read = values[name] === undefined ? readSecret(file) : undefined;
    if (read === undefined) fileFaults.set(name, `${name} and ${name}_FILE are both set: leave one out`);
    else if ("fault" in read) fileFaults.set(name, `${name}_FILE names a file that ${read.fault}`);
    else values[name] = read.secret;
  }
  const result = schema.safeParse(values);
  if (result.success && fileFaults.size === 0) return result.data;
  const issues = (result.error?.issues ?? []).filter(({ path: [name] }) => !fileFaults.has(`${String(name)}`));
  const faults = [...fileFaults.values(), ...issues.map(({ path, message }) => `${path.join(".")} ${message}`)];
  throw new Error(`The configuration is not usable:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
}

function readSecret(file: string): { readonly secret: string } | { readonly fault: string } {
  try {
    const secret = readFileSync(file, "utf8").replace(/\r?\n$/, "");
    return secret === "" ? { fault: "is empty" } : { secret };
  } catch (error) {
    return { fault: `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}
