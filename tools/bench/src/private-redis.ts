import { openRedisServer, type RedisServer } from "@petstore/harness/redis";

/** A Redis for one run. Rejects, saying so, on a machine without one. */
export async function openPrivateRedis(): Promise<RedisServer> {
  try {
    return await openRedisServer();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new Error("There is no redis-server in PATH, and this benchmark needs one.", { cause: error });
  }
}
