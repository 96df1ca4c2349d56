export { openRedisCluster, type RedisCluster } from "./redis-cluster.js";
export { openRedisSentinels, type RedisSentinels } from "./redis-sentinels.js";
export { openRedisServer, type RedisServer } from "./redis-server.js";
