/**
 * The cursor of our REST and GraphQL APIs for lists without a status filter, in the format of core's `cursor.ts`. The peers
 * page by the same cursor. A comparison begins with one page of each kind from every server, and fails if the pets differ.
 */

const version = 1;
const noFilter = 0;

/** The list continues after the pet with this id. */
export function cursorAfter(id: number): string {
  const bytes = Buffer.alloc(10);
  bytes.writeUInt8(version, 0);
  bytes.writeUInt8(noFilter, 1);
  bytes.writeBigInt64BE(BigInt(id), 2);
  return bytes.toString("base64url");
}

/** The id in a cursor; 0, which is before every pet, without one. */
export function idOfCursor(cursor: string | null | undefined): string {
  return cursor ? `${Buffer.from(cursor, "base64url").readBigInt64BE(2)}` : "0";
}
