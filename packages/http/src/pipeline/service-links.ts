/**
 * The links of RFC 8631 to the description of the REST API, for programs and for people. They are on the successful responses
 * that have no other links: a created pet, the rate limit, and the usage history. A page of a list has none, because its Link
 * header, or the lack of one, says whether another page exists. Responses of GraphQL have none, because its clients ask the
 * schema itself, and the API catalog names it. The links are relative, so they work at any address of the service.
 */
export const serviceLinks: readonly string[] = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</>; rel="service-doc"; type="text/html"',
];
