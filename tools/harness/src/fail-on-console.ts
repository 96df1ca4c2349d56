// A vitest setup file. A call of the console fails the test: a library that prints breaks the log of its user.
import { afterEach, expect } from "vitest";

const printed: string[] = [];

for (const method of ["debug", "error", "info", "log", "trace", "warn"] as const) {
  console[method] = (...values: unknown[]) => {
    printed.push(`console.${method}: ${values.map(String).join(" ")}`);
  };
}

afterEach(() => {
  expect(printed.splice(0), "calls of the console").toEqual([]);
});
