export { createRestRouter } from "./rest-router.js";
