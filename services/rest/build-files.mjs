// Writes the files in dist that the compiler does not write: the OpenAPI document as JSON, and the npm package of the client.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { stringify } from "lossless-json";
import { parse } from "yaml";

const pathOf = (path) => new URL(path, import.meta.url);

// With bigint the bounds of int64 keep all digits.
const document = parse(readFileSync(pathOf("openapi.yaml"), "utf8"), { intAsBigInt: true });
writeFileSync(pathOf("dist/openapi.json"), stringify(document));
cpSync(pathOf("node_modules/@petstore/client/dist/petstore-client.tgz"), pathOf("dist/petstore-client.tgz"));
