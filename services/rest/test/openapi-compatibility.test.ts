// services/graphql/test/schema.test.ts compares the GraphQL schema in the same way.
import { readFileSync } from "node:fs";
import { breakingChanges, resolveResponses } from "@petstore/harness/responses";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { releasedDocument } from "../released-document.mjs";

it("the OpenAPI document is compatible with clients that were generated from the last release", () => {
  /** Changes of which a review found that they break no client. A release empties this list. */
  const reviewed = [
    // A page may have another value, which allows a client to store it. A client that stores no page is not affected.
    "paths > /pets > get > responses > 200 > headers > Cache-Control > $ref",
    // A Link header is a list (RFC 8288), and an error has a new link at its end.
    ...[401, 404, 406, 410, 429, 500, 503].map(
      (status) => `paths > /pets/{petId} > get > responses > ${status} > headers > Link > $ref`,
    ),
    // New limits of responses: the service never sent any other value.
    ...["code", "message"].flatMap((name) =>
      ["maxLength", "pattern"].map((limit) => `components > schemas > Error > properties > ${name} > ${limit}`),
    ),
  ];
  expect(breakingChanges(partsOf("openapi.released.yaml"), partsOf("openapi.yaml"))).toEqual(reviewed);
});

/** The parts that a client is generated from. */
function partsOf(file: string): object {
  const document = readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
  const { paths, components } = resolveResponses(parse(releasedDocument(document)));
  const { responses: _inPlace, ...others } = components;
  return { paths, components: others };
}
