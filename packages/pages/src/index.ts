export { copyGraphiql, graphiqlPage } from "./graphiql-page.js";
export { guidesPage } from "./guides-page.js";
export { machineFiles } from "./machine-files.js";
export { toOpenApi30 } from "./openapi-3-0.js";
export { referencePage } from "./reference/reference-page.js";
export { writeSite } from "./site.js";
export { describePlan, usagePage } from "./usage-page.js";
