import { readKeyExpiry } from "./response-headers.js";

/**
 * Returns a function that reads the headers of each response, and has `onKeyExpiry` called once for each end of the key that
 * they name. This happens in a microtask of its own, so that an error of `onKeyExpiry` fails no call of the client.
 */
export function createKeyExpiryNotice(
  onKeyExpiry: ((expiresAt: Date) => void) | undefined,
): (headers: Headers) => void {
  /** All of them: while an operator changes the end, responses with both values can arrive in any order. */
  const noticed = new Set<number>();

  return (headers) => {
    if (onKeyExpiry === undefined) return;
    const expiresAt = readKeyExpiry(headers);
    if (expiresAt === undefined || noticed.has(expiresAt.getTime())) return;
    noticed.add(expiresAt.getTime());
    Promise.resolve(expiresAt)
      .then(onKeyExpiry)
      // The calls of the client must not fail for it, and an unhandled rejection would end a Node process.
      .catch(() => {});
  };
}
