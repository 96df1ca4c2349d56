import { serveMercurius } from "../serve-mercurius.js";

await serveMercurius({ jit: 1, env: process.env });
