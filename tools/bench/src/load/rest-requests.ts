import { type ApiRequests, type HttpRequest, listedPets, newPet, withoutId } from "./requests.js";

export const restRequests: ApiRequests = {
  list(limit, status) {
    const path = `/v1/pets?limit=${limit}${status === undefined ? "" : `&status=${status}`}`;
    const request: HttpRequest = { method: "GET", path, headers: {} };
    return { request: () => request, resultOf: (body) => listedPets(body, limit) };
  },
  create: { request: (unique) => create(unique, {}), resultOf: withoutId },
  createOnce: { request: (unique) => create(unique, { "idempotency-key": unique }), resultOf: withoutId },
};

function create(unique: string, idempotencyKey: HttpRequest["headers"]): HttpRequest {
  return {
    method: "POST",
    path: "/v1/pets",
    headers: { "content-type": "application/json", ...idempotencyKey },
    body: JSON.stringify(newPet(unique)),
  };
}
