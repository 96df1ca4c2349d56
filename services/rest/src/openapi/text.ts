// Writes bigint values with all their digits. JSON and YAML allow integers of any size.
import type { JsonSchema } from "@petstore/core";
import { stringify as stringifyJson } from "lossless-json";
import { stringify as stringifyYaml } from "yaml";

export function openApiJson(document: JsonSchema): string {
  return `${stringifyJson(document, undefined, 2)}\n`;
}

export function openApiYaml(document: JsonSchema): string {
  return stringifyYaml(document, { aliasDuplicateObjects: false, blockQuote: "literal", lineWidth: 120 });
}
