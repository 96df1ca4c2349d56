import type { PetStatus } from "@petstore/core";
import { type ApiRequests, type HttpRequest, listedPets, newPet, type Operation, withoutId } from "./requests.js";

export const restRequests: ApiRequests = {
  list: (limit, status) => restList({ limit, status }),
  create: createWith({}),
  createOnce: createWith({ "idempotency-key": "{unique}" }),
};

interface ListRange {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly cursor?: string | undefined;
  /** The expected id of the first pet. */
  readonly firstId?: number;
}

export function restList({ firstId, ...range }: ListRange): Operation {
  const parameters = Object.entries(range).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  return {
    request: { method: "GET", path: `/v1/pets?${parameters.join("&")}`, headers: {} },
    resultOf(body) {
      const pets = listedPets(body, range.limit);
      const [first] = pets as readonly { readonly id: number }[];
      if (firstId !== undefined && first?.id !== firstId) throw new Error(`the list begins with pet ${first?.id}`);
      return pets;
    },
  };
}

function createWith(headers: HttpRequest["headers"]): Operation {
  return {
    request: {
      method: "POST",
      path: "/v1/pets",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(newPet),
    },
    resultOf: withoutId,
  };
}
