import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { it as base, type Figures } from "@petstore/harness/test-with-figures";
import type { TestAPI } from "vitest";
import { openRunningStore, type RunningStore } from "../conformance/running-store.js";
import type { StoreDatabase } from "../src/store-database.js";
import type { KeyKind } from "./arbitraries/headers.js";

/** Both services with the first pets, and keys of every kind. */
export interface FuzzServices {
  readonly store: RunningStore;
  readonly keys: Readonly<Record<KeyKind, string>>;
}

const unlimited = 1_000_000_000;

/** A response must depend on the request alone, not on the number of requests. */
const environment = {
  ANONYMOUS_REQUESTS_PER_MINUTE: `${unlimited}`,
  ANONYMOUS_REQUESTS_PER_DAY: `${unlimited}`,
};

/** 130 of each status, more than the longest page: the first pages of each status stay as they are while pets are added. */
const addFirstPets = `insert into pets (name, category_id, status)
  select 'pet', n, status from generate_series(1, 130) n, unnest(enum_range(null::pet_status)) status order by n`;

/** A test with the services of its file. */
export const it: TestAPI<{ figures: Figures; services: FuzzServices }> = base.extend<{
  $file: { services: FuzzServices };
}>({
  services: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from this pattern.
    async ({}, use) => {
      await using store = await openRunningStore({ environment });
      await store.database.execute(addFirstPets);
      await use({ store, keys: await issueKeys(store.database) });
    },
    { scope: "file" },
  ],
});

async function issueKeys({ issueKey, execute }: StoreDatabase): Promise<FuzzServices["keys"]> {
  const valid = await issueKey({ customLimits: { perMinute: unlimited, perDay: unlimited } });
  const { accountId } = valid;
  const revoked = await issueKey({ accountId });
  await execute(`update api_keys set revoked_at = now() where id = ${revoked.keyId}`);
  return {
    valid: valid.key,
    smallQuota: (await issueKey({ customLimits: { perMinute: 60, perDay: 1_000 } })).key,
    tinyQuota: (await issueKey({ customLimits: { perMinute: 3, perDay: unlimited } })).key,
    malformed: "pets_live_nonsense",
    unknown: mintApiKey("live", randomBytes),
    revoked: revoked.key,
    expired: (await issueKey({ accountId, expiresAt: new Date(0) })).key,
  };
}
