import type { Reporter } from "vitest/node";

/** A vitest project with a command line of its own, such as `npm run faults`. */
export interface Project {
  readonly about: string;
  /** The npm script that runs it. The name of the project by default. */
  readonly command?: string;
  /** The programs of the machine that its tests name as tags. */
  readonly programs: readonly string[];
  /** All its tests are in one file. */
  readonly hasOneFile?: true;
  readonly reporter?: Reporter;
  /** Further options of its command line, by name. */
  readonly options?: Readonly<Record<string, ProjectOption>>;
}

interface ProjectOption {
  readonly about: string;
  readonly pattern: RegExp;
  readonly default?: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** The values of the project's own options; `undefined` in a run that the command line has not started. */
    projectOptions: Readonly<Record<string, string>> | undefined;
  }
}
