export { breakingChanges } from "./breaking-changes.js";
export { dearValues } from "./dear-values.js";
export { dearDocuments, type Hostile, hostileDocuments, hostileVariables } from "./hostile-documents.js";
export { isLeak } from "./leak.js";
export {
  createResponseCheck,
  type Documented,
  type OpenApi,
  type ResponseCheck,
  resolveResponses,
} from "./response-check.js";
