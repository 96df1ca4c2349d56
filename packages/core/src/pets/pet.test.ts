import { expectTypeOf, it } from "vitest";
import type { AllFields } from "./pet.js";

interface Dog {
  readonly name: string;
  readonly color?: string | undefined;
}

// `tsc` makes these comparisons, so a difference fails `npm run check`.
it("has a function compile only if its parameter names every field, optional ones too", () => {
  expectTypeOf<AllFields<Dog, "name" | "color">>().toEqualTypeOf<Dog>();
  expectTypeOf<AllFields<Dog, "name">>().toEqualTypeOf<{ readonly missing: "color" }>();
});
