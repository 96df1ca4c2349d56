import type { Catalogue, HttpConfig, Log } from "@petstore/core";
import type { AccountTurns } from "./pipeline/account-turns.js";
import type { Resource } from "./pipeline/resource.js";
import type { StaticFile } from "./pipeline/static-file.js";

/** One API of a service: its table of routes, and its files, which need no key. */
export interface Api {
  readonly resources: readonly Resource[];
  readonly files: readonly StaticFile[];
  /** Paths of files, by the paths that lead to them if no file has these. */
  readonly redirects?: Readonly<Record<string, string>>;
}

export type CreateApi = (deps: ApiDeps) => Api;

export interface ApiDeps {
  readonly catalogue: Catalogue;
  /** The queues of all accounts. All APIs of the process share them, as they share its event loop. */
  readonly accountTurns: AccountTurns;
  readonly config: Pick<HttpConfig, "publicUrl" | "stagingUrl" | "securityContact" | "deprecation">;
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
}
