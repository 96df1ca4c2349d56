// Reads the output of PostgreSQL's programs. It is stable: they run with LC_ALL=C and in a pinned version.

/** The reason of a failure in one line. `cause` keeps the output. */
export function explainOutput(program: string, output: string): Error {
  const fatal = /(?:FATAL|PANIC|error): +(?!the database system is )(.+)/.exec(output)?.[1];
  const reason = fatal ?? output.trim().split("\n").at(-1);
  // The message of the checkpoint itself is on a level that is not logged.
  const hint = reason === "checkpoint request failed" ? ": the disk is full or broken" : "";
  return new Error(`${program} failed: ${reason || "it gave no reason"}${hint}`, { cause: output });
}

export function isPortTaken(output: string): boolean {
  return /Address already in use|could not create any TCP\/IP sockets/.test(output);
}

export function isAlreadyRunning(output: string): boolean {
  return /lock file "postmaster\.pid" already exists|pre-existing shared memory block/.test(output);
}
