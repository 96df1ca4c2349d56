export { openRedisCluster } from "./redis-cluster.js";
export { openRedisSentinels } from "./redis-sentinels.js";
export { openRedisServer, type RedisServer } from "./redis-server.js";
