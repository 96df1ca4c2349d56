import type { Row } from "./row.js";
import { brownoutRows } from "./rows/brownouts.js";
import { categoryIdRows } from "./rows/category-ids.js";
import { idempotencyRows } from "./rows/idempotency.js";
import { keyEndRows } from "./rows/key-ends.js";
import { keyRows } from "./rows/keys.js";
import { listRows } from "./rows/lists.js";
import { nameRows } from "./rows/names.js";
import { newPetRows } from "./rows/new-pets.js";
import { quotaRows } from "./rows/quotas.js";
import { requestRows } from "./rows/requests.js";

/** The whole contract table. Lists come first, because they expect a catalogue without further pets. */
export const subjects: Readonly<Record<string, readonly Row[]>> = {
  lists: listRows,
  "new pets": newPetRows,
  names: nameRows,
  "category ids": categoryIdRows,
  "API keys and permissions": keyRows,
  "the end of a key": keyEndRows,
  quotas: quotaRows,
  idempotency: idempotencyRows,
  requests: requestRows,
  "brownouts of GET /pets/{petId}": brownoutRows,
};
