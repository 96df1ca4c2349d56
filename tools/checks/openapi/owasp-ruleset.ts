/** Spectral's ruleset for the OWASP API Security Top 10. A rule that is changed or off has its reason here. */
import type { RulesetDefinition } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";

// The packages of Spectral type a ruleset differently; at run time it is the same.
const all = owasp as unknown as RulesetDefinition & { readonly rules: Readonly<Record<string, object>> };

/** Strings of responses and of bodies. The others are parameters. */
const stringsOfComponents = "$.components..[?(@ && @.type === 'string')]";

export const owaspRuleset: RulesetDefinition = {
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

function withGiven(name: string, given: string): object {
  return { ...all.rules[name], given };
}

function withSchema(name: string, schema: object): object {
  const { then, ...rule } = all.rules[name] as { readonly then: object };
  // biome-ignore lint/suspicious/noThenProperty: Spectral's name for what a rule checks.
  return { ...rule, then: { ...then, functionOptions: { schema } } };
}
