export { keyForm, type Links, type Page } from "./frame.js";
export { type GraphiqlOptions, graphiqlFiles } from "./graphiql.js";
export { pageFiles, readGuides } from "./guides.js";
export { html, type Markup, trusted } from "./html.js";
