import { afterEach, beforeEach, expect } from "vitest";

/** Fails each test of a file during which an error occurs that would end the process. */
export function failOnCrashes(): void {
  const crashes: unknown[] = [];
  const record = (error: unknown) => void crashes.push(error);
  beforeEach(() => {
    crashes.length = 0;
    process.on("uncaughtException", record);
    process.on("unhandledRejection", record);
  });
  afterEach(() => {
    process.off("uncaughtException", record);
    process.off("unhandledRejection", record);
    expect(crashes).toEqual([]);
  });
}
