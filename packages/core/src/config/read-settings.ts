import type { z } from "zod";
import { readSecretFiles } from "./secret-files.js";

/** Throws an Error with one line for every variable at fault. A secret may also come from the file `NAME_FILE` names. */
export function readSettings<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: Readonly<Record<string, string | undefined>>,
): z.output<z.ZodObject<Shape>> {
  // An empty variable counts as absent, as in the shell's ${NAME:-default}.
  const given = Object.entries(environment).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const secrets = Object.entries(schema.shape).filter(
    ([, setting]) => (setting as z.ZodType).meta()?.isSecret === true,
  );
  const read = readSecretFiles(
    Object.fromEntries(given),
    secrets.map(([name]) => name),
  );
  const result = schema.safeParse(read.environment);
  if (result.success && read.faults.length === 0) return result.data;
  const issues =
    result.error?.issues.filter(
      ({ path: [name] }) => !read.faults.some((line) => line.startsWith(`${String(name)}`)),
    ) ?? [];
  const faults = [...read.faults, ...issues.map(({ path, message }) => `${path.join(".")} ${message}`)];
  throw new Error(`The configuration is not usable:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
}

export interface SettingNotes {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** As it would be written; empty where nothing is the default. */
  readonly defaultText: string;
}

/** What a schema's variables say of themselves. */
export function notesOf(schema: z.ZodObject): SettingNotes[] {
  return Object.entries(schema.shape).map(([name, setting]) => {
    const absent = (setting as z.ZodType).safeParse(undefined);
    const { description = "", isSecret = false } = (setting as z.ZodType).meta() ?? {};
    return {
      name,
      description,
      isRequired: !absent.success,
      isSecret: isSecret === true,
      defaultText: `${absent.data ?? ""}`,
    };
  });
}
