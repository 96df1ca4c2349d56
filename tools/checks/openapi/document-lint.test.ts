// Two linters, each with all its recommended rules except one, and the OWASP rules of Spectral.
import { readFileSync } from "node:fs";
import type { RulesetDefinition } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import { expect, it } from "vitest";
import { openApiFile } from "../programs.js";
import { lintWithRedocly, lintWithRules, lintWithSpectral } from "./linters.js";

const text = readFileSync(openApiFile, "utf8");
/** Each linter must find the mistake of this document. */
const flawed = text
  .replace("operationId: createPet", "operationId: listPets")
  // Two rules that `owaspRuleset` changes.
  .replace("        maxLength: 128\n", "")
  .replace(/\n {12}X-RateLimit-Limit: .*\n/, "\n");

// The packages of Spectral have different types for the same ruleset.
const all = owasp as unknown as RulesetDefinition & { readonly rules: Readonly<Record<string, object>> };

/** Strings of responses and of bodies. The others are parameters. */
const stringsOfComponents = "$.components..[?(@ && @.type === 'string')]";

/** The OWASP API Security Top 10. A rule that is changed or off has its reason here. */
const owaspRuleset: RulesetDefinition = {
  extends: [[all, "all"]],
  rules: {
    // The contract has int64 identifiers. Every key can read every pet, so an identifier that is guessed reveals nothing.
    "owasp:api1:2023-no-numeric-ids": "off",
    // Another format changes the types of generated clients: Go's int becomes int32. Each integer has a minimum and a maximum.
    "owasp:api4:2023-integer-format": "off",
    // A new limit on a parameter would break clients of the released document. The service bounds all headers to 16 KiB,
    // and refuses a cursor that it did not make.
    "owasp:api4:2023-string-limit": withGiven("owasp:api4:2023-string-limit", stringsOfComponents),
    "owasp:api4:2023-string-restricted": withGiven("owasp:api4:2023-string-restricted", stringsOfComponents),
    // The original wants one family of headers. The contract has X-RateLimit-*, and the IETF draft has RateLimit.
    "owasp:api4:2023-rate-limit": withSchema("owasp:api4:2023-rate-limit", {
      type: "object",
      required: ["RateLimit", "X-RateLimit-Limit"],
    }),
    // The operator of a deployment decides who may use it.
    "owasp:api9:2023-inventory-access": "off",
  },
} as RulesetDefinition;

it.each([
  ["Redocly", lintWithRedocly, ["operation-operationId-unique"]],
  ["Spectral", lintWithSpectral, ["operation-operationId-unique"]],
  [
    "Spectral with the OWASP rules",
    (source: string) => lintWithRules(source, owaspRuleset),
    ["owasp:api4:2023-string-limit", "owasp:api4:2023-rate-limit"],
  ],
])("%s finds no problem in the OpenAPI document", async (_name, lint, mistakes) => {
  expect(await lint(text)).toEqual([]);
  expect(await lint(flawed)).toEqual(expect.arrayContaining(mistakes));
});

function withGiven(name: string, given: string): object {
  return { ...all.rules[name], given };
}

function withSchema(name: string, schema: object): object {
  const { then, ...rule } = all.rules[name] as { readonly then: object };
  // biome-ignore lint/suspicious/noThenProperty: Spectral's name for what a rule checks.
  return { ...rule, then: { ...then, functionOptions: { schema } } };
}
