export { createRestRouter, type RestRouterDeps, restLinks } from "./rest-router.js";
