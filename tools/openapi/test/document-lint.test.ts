// Two tools that know nothing of each other, both without a single exception of their recommended rules but those named.
import { readFileSync } from "node:fs";
import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from "@redocly/openapi-core";
import spectralCore, { type RulesetDefinition } from "@stoplight/spectral-core";
import { Yaml } from "@stoplight/spectral-parsers";
import { oas } from "@stoplight/spectral-rulesets";
import { describe, expect, it } from "vitest";

const path = new URL("../../../services/rest/openapi.yaml", import.meta.url).pathname;
const text = readFileSync(path, "utf8");
/** A mistake each tool has to see. */
const flawed = text.replace("operationId: createPet", "operationId: listPets");

describe("the OpenAPI document, judged by Redocly", () => {
  it("has no problem", async () => {
    expect(await redocly(text)).toEqual([]);
  });

  it("would have one if two operations had one name", async () => {
    expect(await redocly(flawed)).toContain("error operation-operationId-unique");
  });
});

describe("the OpenAPI document, judged by Spectral", () => {
  it("has no problem", async () => {
    expect(await spectral(text)).toEqual([]);
  });

  it("would have one if two operations had one name", async () => {
    expect(await spectral(flawed)).toContain("0 operation-operationId-unique");
  });
});

async function redocly(source: string): Promise<string[]> {
  const problems = await lintDocument({
    document: makeDocumentFromString(source, path),
    config: await createConfig({ extends: ["recommended-strict"] }),
    externalRefResolver: new BaseResolver(),
  });
  return problems.map(({ severity, ruleId }) => `${severity} ${ruleId}`);
}

async function spectral(source: string): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  // The two packages type a ruleset differently; it is one all the same.
  const rules = oas as unknown as RulesetDefinition;
  // Whom to write to about a deployment is its operator's to say.
  linter.setRuleset({ extends: [[rules, "recommended"]], rules: { "info-contact": "off" } });
  const problems = await linter.run(new spectralCore.Document(source, Yaml, path));
  return problems.map(({ severity, code }) => `${severity} ${code}`);
}
