export { openRedisCluster, type RedisCluster } from "./redis-cluster.js";
export { openRedisServer, type RedisServer } from "./redis-server.js";
