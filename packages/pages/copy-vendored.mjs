// Copies the browser builds of GraphiQL and React to dist, so that the service does not need these packages at run time.
import { cpSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const { resolve } = createRequire(import.meta.url);
const target = new URL("./dist/vendored/", import.meta.url);

mkdirSync(target, { recursive: true });
copy("react", "umd/react.production.min.js", "react.js");
copy("react-dom", "umd/react-dom.production.min.js", "react-dom.js");
copy("graphiql", "graphiql.min.js", "graphiql.js");
copy("graphiql", "graphiql.min.css", "graphiql.css");

function copy(packageName, file, name) {
  cpSync(join(dirname(resolve(`${packageName}/package.json`)), file), new URL(name, target));
}
