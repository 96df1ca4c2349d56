import { stringify } from "lossless-json";
import type { OpenApiResponse } from "./openapi-document.js";

/** The first example of a body, with all digits of its integers. Empty if there is no example. */
export function exampleText({ content }: Pick<OpenApiResponse, "content">): string {
  const [example] = Object.values(content?.["application/json"].examples ?? {});
  return inShortLines(stringify(example?.value, undefined, 2) ?? "");
}

/** Puts an array of numbers, or of strings without brackets, in one line. Otherwise an example with 90 days has 90 lines. */
function inShortLines(json: string): string {
  return json.replace(/\[\s+([^[\]{}]+?)\s+\]/g, (_array, items: string) => `[${items.replace(/,\n\s+/g, ", ")}]`);
}
