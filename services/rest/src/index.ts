export { restLinks } from "./reference/pages.js";
export { createRestRouter, type RestRouterDeps } from "./rest-router.js";
