// Two linters, each with all its recommended rules except one, and the OWASP rules of Spectral.
import { readFileSync } from "node:fs";
import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from "@redocly/openapi-core";
import spectralCore, { type RulesetDefinition } from "@stoplight/spectral-core";
import { Yaml } from "@stoplight/spectral-parsers";
import { oas } from "@stoplight/spectral-rulesets";
import { expect, it } from "vitest";
import { owaspRuleset } from "./owasp-ruleset.js";

const path = new URL("../../../services/rest/openapi.yaml", import.meta.url).pathname;
const text = readFileSync(path, "utf8");
/** Two operations with one name: a mistake that each linter must find. */
const flawed = text.replace("operationId: createPet", "operationId: listPets");

it.each([
  ["Redocly", lintWithRedocly],
  ["Spectral", lintWithSpectral],
])("%s finds no problem in the OpenAPI document", async (_name, lint) => {
  expect(await lint(text)).toEqual([]);
  expect(await lint(flawed)).toContain("operation-operationId-unique");
});

it("Spectral finds no problem with the OWASP rules", async () => {
  expect(await lint(text, owaspRuleset)).toEqual([]);
});

it.each([
  ["a string of a response without a limit", "        maxLength: 128\n", "", "string-limit"],
  ["an integer of a response without a maximum", ", maximum: 9007199254740991", "", "integer-limit"],
  ["a response without a rate limit", /\n {12}X-RateLimit-Limit: .*\n/, "\n", "rate-limit"],
  ["a server without TLS", "url: https://petstore.example/", "url: http://petstore.example/", "no-server-http"],
])("the OWASP rules find %s", async (_flaw, part, replacement, rule) => {
  expect((await lint(text.replace(part, replacement), owaspRuleset)).join()).toContain(rule);
});

async function lintWithRedocly(source: string): Promise<string[]> {
  const problems = await lintDocument({
    document: makeDocumentFromString(source, path),
    config: await createConfig({ extends: ["recommended-strict"] }),
    externalRefResolver: new BaseResolver(),
  });
  return problems.map(({ ruleId }) => ruleId);
}

function lintWithSpectral(source: string): Promise<string[]> {
  // The two packages have different types for the same ruleset.
  const rules = oas as unknown as RulesetDefinition;
  // The operator of a deployment names its contact.
  return lint(source, { extends: [[rules, "recommended"]], rules: { "info-contact": "off" } });
}

async function lint(source: string, ruleset: RulesetDefinition): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  linter.setRuleset(ruleset);
  const problems = await linter.run(new spectralCore.Document(source, Yaml, path));
  return problems.map(({ code }) => `${code}`);
}
