export { type Guide, keyForm, type Link, type Links, type Page } from "./frame.js";
export { type GraphiqlOptions, graphiqlFiles } from "./graphiql.js";
export { type GuideFolder, pageFiles, readGuides } from "./guides.js";
export { html, type Markup, trusted } from "./html.js";
