/**
 * Makes and checks API keys, and computes their digests.
 *
 * An API key is `pets_<live|test>_<secret>_<checksum>`. The secret has 32 base62 characters (190 bits), and the checksum, a
 * CRC-32, has six. The checksum finds a typing error without a query. The format lets scanners find leaked keys. Only the
 * SHA-256 of the key and its visible prefix are stored. A secret of this size needs no slow hash.
 */
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

/** A test key works only in a test store. */
export type KeyMode = "live" | "test";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 32;
const checksumLength = 6;
const pattern = /^(pets_(?:live|test)_[0-9A-Za-z]{32})_([0-9A-Za-z]{6})$/;

/** Makes a new key. `randomBytes` must come from a cryptographic source. */
export function mintApiKey(mode: KeyMode, randomBytes: (size: number) => Uint8Array): string {
  let secret = "";
  while (secret.length < secretLength) {
    for (const byte of randomBytes(secretLength)) {
      // 248 is the largest multiple of 62 below 256. Bytes from 248 on are skipped: they would favour the first characters.
      if (byte < 248 && secret.length < secretLength) secret += alphabet[byte % 62];
    }
  }
  const unsigned = `pets_${mode}_${secret}`;
  return `${unsigned}_${checksum(unsigned)}`;
}

/** True if the format and the checksum are correct. */
export function isWellFormedApiKey(text: string): boolean {
  const match = pattern.exec(text);
  return match !== null && checksum(match[1] ?? "") === match[2];
}

/** The SHA-256 of the key in hexadecimal digits. The database stores its 32 bytes. */
export function digestApiKey(key: string): string {
  return hash("sha256", key, "hex");
}

/** People recognise a key by this prefix. The other 24 characters of the secret (142 bits) stay unknown. */
export function visiblePrefix(key: string): string {
  return key.slice(0, "pets_live_".length + 8);
}

export function modeOf(prefix: string): KeyMode {
  return prefix.startsWith("pets_test_") ? "test" : "live";
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let place = 0; place < checksumLength; place++) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
