import { serviceFlags } from "@petstore/harness/service-flags";
import type { Contestant } from "./benchmark.js";
import { bareGraphql, graphql, postgraphileWords } from "./graphql-words.js";
import { rest } from "./rest-words.js";
import type { Words } from "./words.js";

/** Our services, as they run in production: with key, quota in Redis, metrics and log. */
export const petstoreRest: Contestant = {
  name: "petstore-rest",
  main: new URL("./main.js", import.meta.resolve("@petstore/rest")),
  words: rest,
  nodeOptions: serviceFlags,
  takesKey: true,
  countsInRedis: true,
};

export const petstoreGraphql: Contestant = {
  ...petstoreRest,
  name: "petstore-graphql",
  main: new URL("./main.js", import.meta.resolve("@petstore/graphql")),
  words: graphql,
};

/** A bare peer has no key, quota, validation or log. */
export const bareExpress: Contestant = peer("bare-express", "express", rest);
export const bareApollo: Contestant = peer("bare-apollo", "apollo", bareGraphql);
export const mercurius: Contestant = peer("mercurius", "mercurius", bareGraphql);
export const mercuriusJit: Contestant = peer("mercurius-jit", "mercurius-jit", bareGraphql);
export const postgraphile: Contestant = peer("postgraphile", "postgraphile", postgraphileWords);

export const expressFlexible: Contestant = limitedPeer("express-flexible", "express-flexible", rest);
export const fastifyRateLimit: Contestant = limitedPeer("fastify-rate-limit", "fastify", rest);
export const restCeiling: Contestant = limitedPeer("ceiling", "ceiling", rest);
export const graphqlCeiling: Contestant = limitedPeer("ceiling", "ceiling", bareGraphql);

function peer(name: string, directory: string, words: Words): Contestant {
  return { name, main: new URL(`./peers/${directory}/main.js`, import.meta.url), words };
}

/** Such a peer checks a key and counts at least one window in Redis. */
function limitedPeer(name: string, directory: string, words: Words): Contestant {
  return { ...peer(name, directory, words), takesKey: true, countsInRedis: true };
}
