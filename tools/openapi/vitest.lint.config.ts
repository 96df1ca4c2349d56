import { testConfig } from "@petstore/harness/config";

/** The linters alone, for `npm run check`: they need no server, and their counts are those of `npm test` already. */
export default testConfig({ include: ["test/document-lint.test.ts"], reporters: ["default"], testTimeout: 60_000 });
