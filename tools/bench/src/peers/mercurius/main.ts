import { serveMercurius } from "../serve-mercurius.js";

await serveMercurius({ jit: 0, env: process.env });
