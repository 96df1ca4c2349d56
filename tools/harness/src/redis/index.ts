export { openRedisCluster, type RedisCluster, type RedisClusterOptions } from "./redis-cluster.js";
export { openRedisServer, type RedisServer, type RedisServerOptions } from "./redis-server.js";
