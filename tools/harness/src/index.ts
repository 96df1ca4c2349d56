export { describeWithProgram, describeWithRedis } from "./describe-with-program.js";
export { keptBytes } from "./kept-bytes.js";
export { createTestDatabase, grantService, type TestDatabase } from "./postgres/test-database.js";
export { shared } from "./shared.js";
