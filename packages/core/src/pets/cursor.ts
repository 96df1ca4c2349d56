/** Encodes and decodes the cursors of lists. */
import { Problem } from "../problem.js";
import { type PetStatus, petStatuses } from "./pet.js";

/**
 * A cursor is a version byte, a byte for the status filter of the list, and eight bytes for the id of the pet before the
 * page, in base64url. It is opaque to clients.
 */
const cursorVersion = 1;
const cursorLength = 10;

export function encodeCursor(lastId: bigint, status: PetStatus | undefined): string {
  const bytes = Buffer.alloc(cursorLength);
  bytes.writeUInt8(cursorVersion, 0);
  bytes.writeUInt8(filterByte(status), 1);
  bytes.writeBigInt64BE(lastId, 2);
  return bytes.toString("base64url");
}

/** The id after which the list continues. Throws INVALID_CURSOR if `cursor` is malformed or has another `status`. */
export function decodeCursor(cursor: string, status: PetStatus | undefined): bigint {
  const bytes = Buffer.from(cursor, "base64url");
  if (bytes.length !== cursorLength || bytes.toString("base64url") !== cursor || bytes.readUInt8(0) !== cursorVersion) {
    throw new Problem("INVALID_CURSOR", "the cursor must be one that this list returned");
  }
  if (bytes.readUInt8(1) !== filterByte(status)) {
    throw new Problem("INVALID_CURSOR", "the cursor must be used with the status filter it was returned for");
  }
  return bytes.readBigInt64BE(2);
}

/** 0 without a filter, else the position of the status in `petStatuses`, from 1. */
function filterByte(status: PetStatus | undefined): number {
  return status === undefined ? 0 : petStatuses.indexOf(status) + 1;
}
