// compose.ha.yaml, as the tests that start its programs without containers read it.
import { readFile } from "node:fs/promises";
import { parse } from "yaml";

export interface ComposeHa {
  readonly services: Readonly<Record<string, ComposeHaService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

interface ComposeHaService {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks: readonly string[];
  readonly volumes?: readonly string[];
}

export async function readComposeHa(): Promise<ComposeHa> {
  return parse(await readFile(new URL("../compose.ha.yaml", import.meta.url), "utf8"), { merge: true }) as ComposeHa;
}
