import { expect, it } from "vitest";
import { missingPrograms } from "./installed-program.js";

it("names a missing program, so that its tests are skipped, and throws where CI is set", () => {
  expect(missingPrograms(["sh", "no-such-program"], "")).toEqual(["no-such-program"]);
  expect(() => missingPrograms(["sh", "no-such-program"], "true")).toThrow("no-such-program");
  expect(missingPrograms(["sh"], "true")).toEqual([]);
});
