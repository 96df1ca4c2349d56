// Turns errors of the file system and output of PostgreSQL's programs into one line for the operator.
// The output is stable: the programs run with LC_ALL=C and in a pinned version.

export const serverOfYourOwn = "run services/rest on a server of your own, with DATABASE_URL";

/** Every failure of this package, in one line. `cause` keeps the original. */
export function explain(cause: unknown): Error {
  if (cause instanceof Error && "syscall" in cause && String(cause.syscall).startsWith("spawn")) {
    return new Error(`The PostgreSQL programs cannot be executed here: ${serverOfYourOwn}`, { cause });
  }
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") {
    const known = byCode[cause.code];
    return known === undefined ? cause : new Error(known, { cause });
  }
  return cause instanceof Error ? cause : new Error("The embedded PostgreSQL failed", { cause });
}

export function explainOutput(program: string, output: string): Error {
  for (const [pattern, line] of byOutput) {
    if (pattern.test(output)) return new Error(line, { cause: output });
  }
  const fatal = /(?:FATAL|PANIC|error): +(?!the database system is )(.+)/.exec(output)?.[1];
  return new Error(`${program} failed: ${fatal ?? "it gave no reason"}`, { cause: output });
}

export function isPortTaken(output: string): boolean {
  return /Address already in use|could not create any TCP\/IP sockets/.test(output);
}

export function isAlreadyRunning(output: string): boolean {
  return /lock file "postmaster\.pid" already exists|pre-existing shared memory block/.test(output);
}

const diskFull = "The disk that holds the data directory is full";
const notWritable = "The data directory cannot be read and written by this user";

const byCode: Readonly<Record<string, string>> = {
  // Errors of the file system, then PostgreSQL's disk_full.
  ENOSPC: diskFull,
  EDQUOT: diskFull,
  EACCES: notWritable,
  EPERM: notWritable,
  EROFS: notWritable,
  EEXIST: "The data directory is a file",
  ENOTDIR: "The data directory is, or lies below, a file",
  "53100": diskFull,
};

const byOutput: ReadonlyArray<readonly [RegExp, string]> = [
  [/No space left on device|wrote only \d+ of|Disk quota exceeded/, diskFull],
  // The checkpoint's own message is on a level that is not logged.
  [/checkpoint request failed/, "PostgreSQL cannot write its data: the disk is full or broken"],
  [/Permission denied|Read-only file system/, notWritable],
  [
    /could not (?:create|map) .*shared memory|could not create semaphores/,
    "The machine has too little shared memory for PostgreSQL",
  ],
];
