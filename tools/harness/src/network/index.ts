export { type Answer, type HttpAnswer, nowMs, parseJson, type RateLimit, readAnswer } from "./answer.js";
export { noticesWithinMs, startBalancer, startShippedBalancer } from "./balancer.js";
export { makeCertificate } from "./certificate.js";
export { type FaultProxy, openFaultProxy } from "./fault-proxy.js";
export { type HttpClient, isAnswering, openHttpClient, type RequestOptions } from "./http-client.js";
export { openHttpServer, openTraceReceiver } from "./http-server.js";
export { type Moment, sendAtOneMoment } from "./one-moment.js";
export { bytesOf, type HttpRequest, openRawClient, type RawClient } from "./raw-client.js";
export { scrapeMetrics } from "./scrape-metrics.js";
