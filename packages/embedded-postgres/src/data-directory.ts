import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the standalone store keeps its data and the command line looks for it: what was configured, else `.petstore` in the checkout. */
export function dataDirectory(configured: string | undefined): string {
  return resolve(configured || fileURLToPath(new URL("../../../.petstore", import.meta.url)));
}
