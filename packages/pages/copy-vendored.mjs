// Copies the browser builds of GraphiQL and React to dist, with their compressed forms.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { writeCompressedFile } from "./dist/compressed-file.js";

const { resolve } = createRequire(import.meta.url);
const target = new URL("./dist/vendored/", import.meta.url);

await copy("react", "umd/react.production.min.js", "react.js");
await copy("react-dom", "umd/react-dom.production.min.js", "react-dom.js");
await copy("graphiql", "graphiql.min.js", "graphiql.js");
await copy("graphiql", "graphiql.min.css", "graphiql.css");

async function copy(packageName, file, name) {
  const content = readFileSync(join(dirname(resolve(`${packageName}/package.json`)), file));
  await writeCompressedFile(new URL(name, target), content);
}
