import { testConfig } from "@petstore/harness/config";

/** `npm run quota:proof`: minutes of work, so it is no part of `npm test`. */
export default testConfig({
  include: ["proof/**/*.proof.ts"],
  testTimeout: 15 * 60_000,
  reporters: ["verbose"],
});
