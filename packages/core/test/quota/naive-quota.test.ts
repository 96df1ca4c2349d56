import { describeQuota } from "./describe-quota.js";
import { createNaiveQuota } from "./naive-quota.js";

// The model that judges the engines keeps their promises itself.
describeQuota("naive", async (banPolicy) => {
  let nowMs = 0;
  return {
    quota: createNaiveQuota({ now: () => nowMs, banPolicy }),
    setNow: (toMs) => {
      nowMs = toMs;
    },
    [Symbol.asyncDispose]: async () => {},
  };
});
