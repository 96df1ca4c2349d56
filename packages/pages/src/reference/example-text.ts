import { stringify } from "lossless-json";
import type { OpenApiResponse } from "./openapi-document.js";

/** The first example of a body, with all digits of its integers. Empty if there is no body. */
export function exampleText({ content }: Pick<OpenApiResponse, "content">): string {
  const [example] = Object.values(content?.["application/json"].examples ?? {});
  return stringify(example?.value, undefined, 2) ?? "";
}
