import { type Answer, openHttpClient } from "@petstore/harness/network";
import { createResponseCheck, type OpenApi } from "@petstore/harness/responses";
import type { RunningStore } from "../running-store.js";
import type { Api, Send } from "./api.js";
import { openClientApi } from "./client-api.js";
import { createGraphqlApi } from "./graphql-api.js";
import { type ApiName, createResponseFaults } from "./response-faults.js";
import { createRestApi } from "./rest-api.js";

/** Every interface of a running store, REST first. A call rejects if its response has a fault. */
export async function openApis(store: RunningStore): Promise<readonly [Api, ...Api[]]> {
  const document = (await (await fetch(`${store.originOf("rest")}/openapi.json`)).json()) as OpenApi;
  const faultsOf = createResponseFaults(createResponseCheck(document), []);
  const check = (api: ApiName, method: string, path: string, answer: Answer): void => {
    const faults = faultsOf(api, method, path, answer);
    if (faults.length > 0) throw new Error(`${method} ${path} got ${answer.status}: ${faults.join("; ")}`);
  };
  const sendTo = (api: ApiName): Send => {
    const { send } = openHttpClient(store.originOf(api));
    return async (method, path, options) => {
      const answer = await send(method, path, options);
      check(api, method, path, answer);
      return answer;
    };
  };
  return [
    createRestApi(sendTo("rest")),
    createGraphqlApi(sendTo("graphql"), "pets"),
    createGraphqlApi(sendTo("graphql"), "petsConnection"),
    openClientApi(store.originOf("rest"), (...answer) => check("rest", ...answer)),
  ];
}
