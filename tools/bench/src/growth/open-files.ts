/** What a process opens besides its idle connections. */
const besides = 200;

/**
 * Throws, saying what to do, where a process may not open so many connections. Node has already raised its own limit, and
 * that of the processes it starts, to the highest the shell allows.
 */
export function checkOpenFiles(connections: number, allowed: number = allowedOpenFiles()): void {
  const needed = connections + besides;
  if (allowed >= needed) return;
  throw new Error(
    `${connections} idle connections need ${needed} open files in one process, and this shell allows ${allowed}: ` +
      `raise it with ulimit -Hn ${needed} as root, or ask for --idle ${Math.max(1, allowed - besides)}`,
  );
}

/** Infinity where the system has no such limit, or does not tell. */
function allowedOpenFiles(): number {
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
  };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isNaN(soft) ? Number.POSITIVE_INFINITY : soft;
}
