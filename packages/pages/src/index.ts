export { pageAssets } from "./assets.js";
export { type Guide, keyForm, type Link, type Links, type Page, renderPage } from "./frame.js";
export { type GraphiqlOptions, graphiqlFiles } from "./graphiql.js";
export { errorsGuide, type GuideFolder, guidePages, readGuides } from "./guides.js";
export { html, type Markup, trusted } from "./html.js";
