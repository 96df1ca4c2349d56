import { join } from "node:path";
import { administratorUrl } from "@petstore/embedded-postgres";
import pg from "pg";
import { disposableList } from "../disposable-list.js";
import { type LoadGenerator, openLoadGenerator } from "../load-generator.js";
import { openPrivateRedis } from "../private-redis.js";
import { databaseDirectory, openPrivateDatabase, openTemporaryDirectory } from "../scene.js";
import { openServer, type Server, type ServerOptions } from "../server.js";
import type { Api } from "./apis.js";
import type { PartDeps } from "./part.js";

/** What a part is played on. */
export interface Stage {
  /** Of a database that is there, and empty. */
  readonly databaseUrl: string;
  /** For the superuser of the same server. */
  readonly administratorUrl: string;
  /** What PostgreSQL logs. */
  readonly databaseLog: string;
  readonly generator: LoadGenerator;
  /** Of a further database, empty too. */
  createDatabase(name: string): Promise<string>;
  /** A service of its own for an API; on the given database. It ends with the stage at the latest. */
  openService(api: Api, name: string, options: ServiceOptions): Promise<Server>;
}

type ServiceOptions = Pick<ServerOptions, "databaseUrl" | "environment" | "preload">;

/** Starts a private PostgreSQL and Redis, and ends both, and every service, behind the play. */
export async function onStage<Result>(
  { progress, signal }: PartDeps,
  play: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  progress("starting PostgreSQL and Redis ...");
  await using directory = await openTemporaryDirectory();
  await using database = await openPrivateDatabase(directory.path);
  await using redis = await openPrivateRedis();
  await using servers = disposableList<Server>();
  await using generator = openLoadGenerator(signal);
  return await play({
    databaseUrl: database.ownerUrl,
    administratorUrl: await administratorUrl(databaseDirectory(directory.path)),
    databaseLog: join(databaseDirectory(directory.path), "cluster", "server.log"),
    generator,
    async createDatabase(name) {
      const client = new pg.Client({ connectionString: database.ownerUrl });
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      return Object.assign(new URL(database.ownerUrl), { pathname: name }).href;
    },
    async openService({ contestant }, name, options) {
      signal.throwIfAborted();
      const place = { redisUrl: redis.url, directory: directory.path, signal };
      const server = await openServer({ ...contestant, name }, { ...options, ...place });
      servers.items.push(server);
      return server;
    },
  });
}
