export { createRestRouter, restLinks } from "./rest-router.js";
