import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from "@redocly/openapi-core";
import spectralCore, { type RulesetDefinition } from "@stoplight/spectral-core";
import { Yaml } from "@stoplight/spectral-parsers";
import { oas } from "@stoplight/spectral-rulesets";

// The packages of Spectral have different types for the same ruleset.
const recommended = oas as unknown as RulesetDefinition;

/** Returns the names of the broken rules. Each linter reads JSON and YAML of both versions of OpenAPI. */
export async function lintWithRedocly(source: string): Promise<string[]> {
  const problems = await lintDocument({
    document: makeDocumentFromString(source, "openapi.yaml"),
    config: await createConfig({ extends: ["recommended-strict"] }),
    externalRefResolver: new BaseResolver(),
  });
  return problems.map(({ ruleId }) => ruleId);
}

export function lintWithSpectral(source: string): Promise<string[]> {
  // The operator of a deployment names its contact.
  return lintWithRules(source, { extends: [[recommended, "recommended"]], rules: { "info-contact": "off" } });
}

export async function lintWithRules(source: string, ruleset: RulesetDefinition): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  linter.setRuleset(ruleset);
  const problems = await linter.run(new spectralCore.Document(source, Yaml, "openapi.yaml"));
  return problems.map(({ code }) => `${code}`);
}
