export { pageAssets } from "./assets.js";
export { framed, type Guide, keyForm, type Link, type Links, type Page } from "./frame.js";
export { type GraphiqlOptions, graphiqlDocuments } from "./graphiql.js";
export { errorsGuide, type GuideFolder, guideDocuments, readGuides } from "./guides.js";
export { html, type Markup, trusted } from "./html.js";
