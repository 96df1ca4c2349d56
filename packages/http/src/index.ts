export type { Admission, CostOf } from "./admission.js";
export { routeNotFound } from "./app.js";
export { readJson } from "./body.js";
export { countHeader } from "./credentials.js";
export { type Document, serveDocuments } from "./documents.js";
export { maxJsonDepth, parseExactJson } from "./exact-json.js";
export { callerOf, exchangeOf, onRoute } from "./exchange.js";
export type { Listener } from "./listen.js";
export { untilSignal } from "./listen.js";
export { createLog, openLog } from "./log.js";

export { acceptedType, acceptsJson, methodNotAllowed } from "./negotiation.js";
export { answerProblems, errorShape, jsonMediaType, problemHeaders, sendJson } from "./problem-response.js";
export { type Door, type DoorDeps, openService, type Service, type ServiceOptions } from "./service.js";
