import fc from "fast-check";

/** Any ten bytes, with the version that is written today or not: no client makes cursors, and any may be sent. */
export const cursorText: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(1, 1, 1, 0, 2, 255),
    fc.constantFrom(0, 1, 2, 3, 4, 255),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom("", "", "", "=", "A", "+"),
  )
  .map(([version, filter, id, tail]) => {
    const bytes = Buffer.from([version, filter, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.writeBigInt64BE(id, 2);
    return bytes.toString("base64url") + tail;
  });
