import { openAtVirtualTime } from "./caller.js";
import { describeQuota } from "./describe-quota.js";
import { createNaiveQuota } from "./naive-quota.js";

// The model that judges the engines keeps their promises itself.
describeQuota("naive", "local", async (banPolicy) =>
  openAtVirtualTime(({ now }) => createNaiveQuota({ now, banPolicy })),
);
