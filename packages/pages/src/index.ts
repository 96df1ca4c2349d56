export { keyForm, type Page } from "./frame.js";
export { graphiqlFiles } from "./graphiql.js";
export { pageFiles } from "./guides.js";
export { html, type Markup, trusted } from "./html.js";
export { readGuides } from "./links.js";
