import { openHttpClient } from "@petstore/harness/network";
import { createResponseCheck, type OpenApi } from "@petstore/harness/responses";
import type { RunningStore } from "../running-store.js";
import type { Api, RestListener } from "./api.js";
import { openClientApi } from "./client-api.js";
import { createGraphqlApi } from "./graphql-api.js";
import { createRestApi } from "./rest-api.js";

/** Every interface of a running store, REST first. */
export async function openApis(store: RunningStore): Promise<readonly [Api, ...Api[]]> {
  const [rest, graphql] = [store.originOf("rest"), store.originOf("graphql")];
  const onAnswer = await describedBy(rest);
  return [
    createRestApi(openHttpClient(rest).send, onAnswer),
    createGraphqlApi(openHttpClient(graphql).send, "pets"),
    createGraphqlApi(openHttpClient(graphql).send, "petsConnection"),
    openClientApi(rest, onAnswer),
  ];
}

/** Throws for a response that the OpenAPI document of the service does not describe. */
async function describedBy(origin: string): Promise<RestListener> {
  const document = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenApi;
  const check = createResponseCheck(document);
  return (method, path, answer) => {
    const operation = check.operationOf(method, path);
    const faults = operation === undefined ? [] : check.violations(operation, answer);
    if (faults.length > 0) throw new Error(`${operation} ${answer.status} is not as documented: ${faults.join("; ")}`);
  };
}
