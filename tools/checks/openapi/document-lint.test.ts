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
/** Each linter must find the mistake of this document. */
const flawed = text
  .replace("operationId: createPet", "operationId: listPets")
  // The two rules that the ruleset changes.
  .replace("        maxLength: 128\n", "")
  .replace(/\n {12}X-RateLimit-Limit: .*\n/, "\n");
const owasp = "owasp:api4:2023";

it.each([
  ["Redocly", lintWithRedocly, ["operation-operationId-unique"]],
  ["Spectral", lintWithSpectral, ["operation-operationId-unique"]],
  [
    "Spectral with the OWASP rules",
    (source: string) => lint(source, owaspRuleset),
    [`${owasp}-string-limit`, `${owasp}-rate-limit`],
  ],
])("%s finds no problem in the OpenAPI document", async (_name, lint, mistakes) => {
  expect(await lint(text)).toEqual([]);
  expect(await lint(flawed)).toEqual(expect.arrayContaining(mistakes));
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
