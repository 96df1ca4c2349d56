export { type Answer, type HttpAnswer, nowMs, type RateLimit, readAnswer } from "./answer.js";
export { type Balancer, type BalancerBackend, noticesWithinMs, startBalancer } from "./balancer.js";
export { type FaultProxy, type FaultProxyOptions, openFaultProxy } from "./fault-proxy.js";
export { type HttpClient, isAnswering, openHttpClient, type RequestOptions } from "./http-client.js";
export { openRawClient, type RawAnswer, type RawClient, type WholeAnswer, wholeAnswerIn } from "./raw-client.js";
