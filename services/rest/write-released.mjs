// A step of `npm run release`: writes the parts of the OpenAPI document that later versions must not break.
import { readFileSync, writeFileSync } from "node:fs";
import { releasedDocument } from "./released-document.mjs";

const pathOf = (path) => new URL(path, import.meta.url);
writeFileSync(pathOf("openapi.released.yaml"), releasedDocument(readFileSync(pathOf("openapi.yaml"), "utf8")));
