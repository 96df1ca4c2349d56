// Two linters, each with all its recommended rules except one.
import { readFileSync } from "node:fs";
import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from "@redocly/openapi-core";
import spectralCore, { type RulesetDefinition } from "@stoplight/spectral-core";
import { Yaml } from "@stoplight/spectral-parsers";
import { oas } from "@stoplight/spectral-rulesets";
import { expect, it } from "vitest";

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

async function lintWithRedocly(source: string): Promise<string[]> {
  const problems = await lintDocument({
    document: makeDocumentFromString(source, path),
    config: await createConfig({ extends: ["recommended-strict"] }),
    externalRefResolver: new BaseResolver(),
  });
  return problems.map(({ ruleId }) => ruleId);
}

async function lintWithSpectral(source: string): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  // The two packages have different types for the same ruleset.
  const rules = oas as unknown as RulesetDefinition;
  // The operator of a deployment names its contact.
  linter.setRuleset({ extends: [[rules, "recommended"]], rules: { "info-contact": "off" } });
  const problems = await linter.run(new spectralCore.Document(source, Yaml, path));
  return problems.map(({ code }) => `${code}`);
}
