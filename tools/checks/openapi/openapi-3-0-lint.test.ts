// The OpenAPI 3.0 form, which the build of the REST service writes, is valid OpenAPI 3.0.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openApi30File } from "../programs.js";
import { lintWithRedocly, lintWithSpectral } from "./linters.js";

const built = readFileSync(openApi30File, "utf8");
// The service fills the lists when it starts.
const text = built.replaceAll('"servers": []', '"servers": [{ "url": "https://petstore.example/v1" }]');
/** Each linter must find these words of 3.1. */
const flawed = text
  .replace('"nullable": true', '"const": null')
  .replace(/"type": "integer",\s*"format"/, '"type": ["integer"], "format"');

it.each([
  ["Redocly", lintWithRedocly, "struct"],
  ["Spectral", lintWithSpectral, "oas3-schema"],
])(
  "%s finds no problem in the OpenAPI 3.0 document, and the words of 3.1 if it has any",
  async (_name, lint, mistake) => {
    expect(text).toContain('"openapi": "3.0.3"');
    expect(await lint(text)).toEqual([]);
    expect(await lint(flawed)).toContain(mistake);
  },
);
