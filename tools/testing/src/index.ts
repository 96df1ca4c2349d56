export { describeWithRedis, isRedisInstalled } from "./describe-with-redis.js";
export { createTestDatabase, type TestDatabase } from "./test-database.js";
