import { readFileSync } from "node:fs";
import type { z } from "zod";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting<Value> {
  readonly name: string;
  readonly type: z.ZodType<Value>;
  /** If true, the file that `<name>_FILE` names may hold the value. A line break at the end of the file is ignored. */
  readonly isSecret: boolean;
}

export function setting<Value>(name: string, type: z.ZodType<Value>): Setting<Value> {
  return { name, type, isSecret: false };
}

export function secret<Value>(name: string, type: z.ZodType<Value>): Setting<Value> {
  return { name, type, isSecret: true };
}

type Tables = Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>>;

type Values<Read extends Tables> = {
  [Table in keyof Read]: {
    [Name in keyof Read[Table]]: Read[Table][Name] extends Setting<infer Value> ? Value : never;
  };
};

/** Throws an Error with one line for each fault. The line names the variable and never shows its value. */
export function readSettings<Read extends Tables>(tables: Read, environment: Environment): Values<Read> {
  const faults: string[] = [];

  function read({ name, type, isSecret }: Setting<unknown>): unknown {
    // An empty variable counts as absent, as in the shell's ${NAME:-default}.
    const text = environment[name] || undefined;
    const file = environment[`${name}_FILE`];
    if (!isSecret || !file) return parse(name, type, text);
    if (text !== undefined) {
      faults.push(`${name} and ${name}_FILE are both set: leave one out`);
      return undefined;
    }
    const content = readSecret(name, file);
    return content === undefined ? undefined : parse(name, type, content);
  }

  function readSecret(name: string, file: string): string | undefined {
    let content: string;
    try {
      content = readFileSync(file, "utf8").replace(/\r?\n$/, "");
    } catch (error) {
      const { code = "unknown" } = error as NodeJS.ErrnoException;
      faults.push(`${name}_FILE names a file that cannot be read (${code})`);
      return undefined;
    }
    if (content === "") {
      faults.push(`${name}_FILE names a file that is empty`);
      return undefined;
    }
    return content;
  }

  function parse(name: string, type: z.ZodType, text: string | undefined): unknown {
    const { data, error } = type.safeParse(text);
    for (const { message } of error?.issues ?? []) faults.push(`${name} ${message}`);
    return data;
  }

  const values = mapValues(tables, (table) => mapValues(table, read));
  if (faults.length > 0) throw unusable(faults);
  return values as Values<Read>;
}

/** Each fault begins with the name of its variable. */
export function unusable(faults: readonly string[]): Error {
  return new Error(`The configuration is not usable:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
