import type { Catalogue, Core, Quota } from "@petstore/core";

/** Runs a call as a span of the request under way. */
export type Within = <Result>(name: string, call: () => Promise<Result>) => Promise<Result>;

/** The calls that requests wait for, each within a span of its name. */
export function withSpans(core: Core, within: Within): Core {
  const { authenticator, catalogue, accountQuota, addressQuota } = core;
  return {
    ...core,
    authenticator: {
      ...authenticator,
      authenticate: (token, client) => within("authenticate", () => authenticator.authenticate(token, client)),
    },
    catalogue: catalogueWithSpans(catalogue, within),
    accountQuota: quotaWithSpans(accountQuota, within),
    addressQuota: quotaWithSpans(addressQuota, within),
  };
}

function catalogueWithSpans(catalogue: Catalogue, within: Within): Catalogue {
  return {
    ...catalogue,
    list: (input) => within("catalogue.list", () => catalogue.list(input)),
    connect: (input) => within("catalogue.connect", () => catalogue.connect(input)),
    create: (request) => within("catalogue.create", () => catalogue.create(request)),
    get: (id) => within("catalogue.get", () => catalogue.get(id)),
  };
}

function quotaWithSpans(quota: Quota, within: Within): Quota {
  return {
    ...quota,
    reserve: (reservation) => within("quota.reserve", () => quota.reserve(reservation)),
    extend: (extension) => within("quota.extend", () => quota.extend(extension)),
    usage: (query) => within("quota.usage", () => quota.usage(query)),
    refund: (units) => within("quota.refund", () => quota.refund(units)),
  };
}
