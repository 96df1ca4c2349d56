/** Errors since the watch began that would have ended the process. */
export interface CrashWatch extends Disposable {
  readonly crashes: readonly unknown[];
}

export function watchForCrashes(): CrashWatch {
  const crashes: unknown[] = [];
  const record = (error: unknown) => void crashes.push(error);
  process.on("uncaughtException", record);
  process.on("unhandledRejection", record);
  return {
    crashes,
    [Symbol.dispose]() {
      process.off("uncaughtException", record);
      process.off("unhandledRejection", record);
    },
  };
}
