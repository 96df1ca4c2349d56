// Writes the files in dist that the compiler does not write: the OpenAPI document, and the pages and files of the service.
import { readFileSync, writeFileSync } from "node:fs";
import { limitsOf, planNames } from "@petstore/core";
import { referencePage, usagePage, writeSite } from "@petstore/pages";
import { stringify } from "lossless-json";
import { parse } from "yaml";

const pathOf = (path) => new URL(path, import.meta.url);
const yaml = readFileSync(pathOf("openapi.yaml"), "utf8");
// With bigint the bounds of int64 keep all digits.
const document = parse(yaml, { intAsBigInt: true });

// The service replaces the empty list of servers, because their addresses are settings.
writeFileSync(pathOf("dist/openapi.json"), `${stringify({ ...document, servers: [] }, undefined, 2)}\n`);
writeFileSync(pathOf("dist/openapi.yaml"), yaml.replace(/^servers:\n( .*\n)+/m, "servers: []\n"));
const plans = planNames.map((plan) => ({ plan, limits: plan === "enterprise" ? undefined : limitsOf({ plan }) }));
await writeSite(pathOf("dist/site/"), {
  pages: [referencePage(document), usagePage(plans)],
  guides: "services/rest/docs",
  files: {
    // The npm package of the client.
    "petstore-client.tgz": readFileSync(pathOf("node_modules/@petstore/client/dist/petstore-client.tgz")),
  },
});
