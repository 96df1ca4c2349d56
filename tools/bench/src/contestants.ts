import { serviceFlags } from "@petstore/testing/service-flags";
import type { Contestant } from "./benchmark.js";
import { petsOfPostgraphile } from "./graphql-work.js";

/** Ours, as a single process counts: in its own memory. */
export const petstoreRest: Contestant = {
  name: "petstore-rest",
  main: new URL("./main.js", import.meta.resolve("@petstore/rest")),
  nodeOptions: serviceFlags,
  takesKey: true,
};

export const petstoreGraphql: Contestant = {
  name: "petstore-graphql",
  main: new URL("./main.js", import.meta.resolve("@petstore/graphql")),
  nodeOptions: serviceFlags,
  takesKey: true,
};

/** Ours, as many processes count: in Redis. */
export const petstoreRestOnRedis: Contestant = { ...petstoreRest, name: "petstore-rest-redis", countsInRedis: true };
export const petstoreGraphqlOnRedis: Contestant = {
  ...petstoreGraphql,
  name: "petstore-graphql-redis",
  countsInRedis: true,
};

/** Without key, quota, validation or log, as the others that are called bare. */
export const bareExpress: Contestant = peer("bare-express", "express");
export const bareApollo: Contestant = peer("bare-apollo", "apollo");
export const bareMercurius: Contestant = peer("bare-mercurius", "mercurius");
export const barePostgraphile: Contestant = { ...peer("bare-postgraphile", "postgraphile"), work: petsOfPostgraphile };

export const expressRateLimit: Contestant = limitedPeer("express-rate-limit", "express-rate-limit");
export const expressFlexible: Contestant = limitedPeer("express-flexible", "express-flexible");
export const fastifyRateLimit: Contestant = limitedPeer("fastify-rate-limit", "fastify");
export const ceiling: Contestant = limitedPeer("ceiling", "ceiling");

function peer(name: string, directory: string): Contestant {
  return { name, main: new URL(`./peers/${directory}/main.js`, import.meta.url) };
}

/** With a key check and at least one window. */
function limitedPeer(name: string, directory: string): Contestant {
  return { ...peer(name, directory), takesKey: true, countsInRedis: true };
}
