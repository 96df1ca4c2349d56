import { serviceErrorCodes } from "@petstore/client";
import { problems } from "@petstore/core";
import { expect, it } from "vitest";

it("the client knows every code that the REST API answers, and no other", () => {
  const codes = Object.keys(problems).filter((code) => !code.startsWith("GRAPHQL_"));
  expect([...serviceErrorCodes].sort()).toEqual(codes.sort());
});
