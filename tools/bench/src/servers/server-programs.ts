import { serviceFlags } from "@petstore/harness/processes";
import { unhurried } from "@petstore/test-store/store-database";
import { bareGraphqlRequests, graphqlRequests, postgraphileRequests } from "../load/graphql-requests.js";
import { type ApiRequests, restRequests } from "../load/requests.js";

/** A server program. It listens on 127.0.0.1 at PORT, uses the database at DATABASE_URL, and ends at SIGTERM. */
export interface ServerProgram {
  readonly name: string;
  readonly main: URL;
  readonly requests: ApiRequests;
  /** True if it checks an API key, and counts its requests in the Redis at REDIS_URL. */
  readonly takesKey: boolean;
  readonly nodeOptions?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Our services, as they run in production: with key, quota in Redis, metrics and log. A busy machine answers late, which is no
 * error.
 */
export const petstoreRest: ServerProgram = service("petstore-rest", "@petstore/rest/main", restRequests);
export const petstoreGraphql: ServerProgram = service("petstore-graphql", "@petstore/graphql/main", graphqlRequests);

/** A bare peer has no key, quota, validation or log. */
export const bareExpress: ServerProgram = peer("bare-express", restRequests);
export const bareApollo: ServerProgram = peer("bare-apollo", bareGraphqlRequests);
export const mercurius: ServerProgram = peer("mercurius", bareGraphqlRequests);
export const mercuriusJit: ServerProgram = { ...mercurius, name: "mercurius-jit", environment: { JIT: "1" } };
export const postgraphile: ServerProgram = peer("postgraphile", postgraphileRequests);

/** A limited peer checks a key, and counts at least one window in Redis. */
export const expressFlexible: ServerProgram = { ...peer("express-flexible", restRequests), takesKey: true };
export const fastifyRateLimit: ServerProgram = { ...peer("fastify-rate-limit", restRequests), takesKey: true };
export const restCeiling: ServerProgram = { ...peer("ceiling", restRequests), takesKey: true };
export const graphqlCeiling: ServerProgram = { ...restCeiling, requests: bareGraphqlRequests };

function service(name: string, program: string, requests: ApiRequests): ServerProgram {
  const main = new URL(import.meta.resolve(program));
  return { name, main, requests, takesKey: true, nodeOptions: serviceFlags, environment: unhurried };
}

function peer(name: string, requests: ApiRequests): ServerProgram {
  return { name, main: builtFile(`peers/${name}/main.js`), requests, takesKey: false };
}

/** A file of the built package, also for tests that run on the sources. */
export function builtFile(path: string): URL {
  return new URL(`../../dist/${path}`, import.meta.url);
}
