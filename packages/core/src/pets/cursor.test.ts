import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeCursor, encodeCursor } from "./cursor.js";
import { maxInt64, minInt64, petStatuses } from "./pet.js";

const anyStatus = fc.constantFrom(undefined, ...petStatuses);
const anyId = fc.bigInt(minInt64, maxInt64);

// The contract table of tools/checks/conformance has the texts that are refused.
describe("a cursor", () => {
  it("returns its id when it is used with its filter", () => {
    fc.assert(fc.property(anyId, anyStatus, (id, status) => decodeCursor(encodeCursor(id, status), status) === id));
  });

  // A client can continue a walk after an upgrade, and after the way back.
  it("is the text that the first version gave", () => {
    expect(encodeCursor(42n, undefined)).toBe("AQAAAAAAAAAAKg");
    expect(encodeCursor(9007199254740993n, "pending")).toBe("AQIAIAAAAAAAAQ");
  });

  it("is refused with another filter", () => {
    fc.assert(
      fc.property(anyId, anyStatus, anyStatus, (id, status, other) => {
        fc.pre(status !== other);
        expect(() => decodeCursor(encodeCursor(id, status), other)).toThrow(/filter/);
      }),
    );
  });
});
