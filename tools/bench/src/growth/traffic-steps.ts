import { post } from "../graphql-words.js";
import { type WorkRequest, withKey } from "../words.js";
import type { Api } from "./apis.js";
import type { Step } from "./traffic-generator.js";

interface Keys {
  readonly apiKey: string;
  /** Of an account whose quota is used up. */
  readonly spentKey: string;
  /** Somewhere in the list of those that are available. */
  readonly cursor: string;
}

/** What an API is asked in a day, good and bad, in turn. */
export function trafficOf(api: Api, keys: Keys): Step[] {
  const { apiKey, spentKey, cursor } = keys;
  const unknown = api.list({}, "");
  return [
    { name: "list", request: api.list({}, apiKey), statuses: [200] },
    { name: "list by status", request: api.list({ status: "available" }, apiKey), statuses: [200] },
    { name: "page", request: api.list({ status: "available", cursor }, apiKey), statuses: [200] },
    { name: "create", request: api.create(apiKey), statuses: [200, 201] },
    { name: "unknown key", request: unknown, unknownKey: true, isRemembered: true, statuses: [401, 503] },
    { name: "quota used up", request: api.list({}, spentKey), statuses: [200, 403, 429] },
    ...(api.name === "rest" ? restSteps(apiKey) : graphqlSteps(apiKey)),
  ];
}

function restSteps(apiKey: string): Step[] {
  const get = (path: string): WorkRequest => withKey({ method: "GET", path, headers: {} }, apiKey);
  return [
    { name: "get", request: get("/v1/pets/1"), statuses: [200] },
    { name: "not found", request: get("/v1/pets/9007199254740993"), statuses: [404] },
    { name: "bad parameter", request: get("/v1/pets?limit=1000"), statuses: [400] },
    { name: "no such route", request: get("/v1/dogs"), statuses: [404] },
  ];
}

function graphqlSteps(apiKey: string): Step[] {
  const ask = (query: string): WorkRequest => withKey(post({ query }), apiKey);
  return [
    {
      name: "connection",
      request: ask("{ petsConnection(first: 5) { edges { cursor node { id } } } }"),
      statuses: [200],
    },
    { name: "bad argument", request: ask("{ pets(limit: 1000) { id } }"), statuses: [200] },
    {
      name: "another document",
      request: ask("{ pets{number}: pets(limit: 1) { id } }"),
      isRemembered: true,
      statuses: [200],
    },
    { name: "no document", request: ask("{ pets{number}"), statuses: [200, 400] },
  ];
}
