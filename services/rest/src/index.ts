export { createRestApi } from "./rest-api.js";
