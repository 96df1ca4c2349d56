import type * as client from "@petstore/client";
import type * as core from "@petstore/core";
import { expectTypeOf, it } from "vitest";

// The client imports nothing of ours. `tsc` makes these comparisons, so a difference fails `npm run check`.
it("has the same fields in the types of the client and of core", () => {
  expectTypeOf<client.Pet>().toEqualTypeOf<core.Pet>();
  expectTypeOf<keyof client.NewPet>().toEqualTypeOf<keyof core.NewPet>();
  expectTypeOf<core.NewPet>().toExtend<client.NewPet>();
});
