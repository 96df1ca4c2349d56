// Writes the files in dist that the compiler does not write: the OpenAPI document, and the pages and files of the service.
import { readFileSync, writeFileSync } from "node:fs";
import { errorGuide, limitsOf, planNames } from "@petstore/core";
import { guidesPage, machineFiles, referencePage, toOpenApi30, usagePage, writeSite } from "@petstore/pages";
import { stringify } from "lossless-json";
import { parse } from "yaml";

const pathOf = (path) => new URL(path, import.meta.url);
const yaml = readFileSync(pathOf("openapi.yaml"), "utf8");

// The service fills the empty lists of servers, because their addresses are settings.
const withoutServers = yaml.replace(/^( *)servers:\n(?:\1 +.*\n)+/gm, "$1servers: []\n");
writeFileSync(pathOf("dist/openapi.yaml"), withoutServers);
// With bigint the bounds of int64 keep all digits.
const document = parse(withoutServers, { intAsBigInt: true });
const writeJson = (name, content) => writeFileSync(pathOf(name), `${stringify(content, undefined, 2)}\n`);
writeJson("dist/openapi.json", document);
writeJson("dist/openapi-3.0.json", toOpenApi30(document));

const plans = planNames.map((plan) => ({ plan, limits: plan === "enterprise" ? undefined : limitsOf({ plan }) }));
await writeSite(pathOf("dist/site/"), {
  pages: [referencePage(document), guidesPage, usagePage(plans)],
  guides: { "services/rest/docs": pathOf("docs/"), "packages/core": new URL("./", errorGuide) },
  files: {
    ...machineFiles,
    // The npm package of the client.
    "petstore-client.tgz": readFileSync(pathOf("node_modules/@petstore/client/dist/petstore-client.tgz")),
  },
});
