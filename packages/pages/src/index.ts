export { copyGraphiql, graphiqlPage } from "./graphiql-page.js";
export { referencePage } from "./reference/reference-page.js";
export { writeSite } from "./site.js";
export { describePlan, usagePage } from "./usage-page.js";
