export { describeWithProgram } from "./describe-with-program.js";
export { describeWithRedis, isRedisInstalled } from "./describe-with-redis.js";
export { createTestDatabase, grantService, type TestDatabase } from "./postgres/test-database.js";
