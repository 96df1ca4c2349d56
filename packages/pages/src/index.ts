export { keyForm, type Page } from "./frame.js";
export { graphiqlFiles } from "./graphiql.js";
export { html, type Markup } from "./html.js";
export { pageFiles } from "./page-files.js";
