/** Preloaded into a service whose growth must be found: keeps LEAK_BYTES of every request. */
import { subscribe } from "node:diagnostics_channel";

const bytes = Number(process.env.LEAK_BYTES);
const kept: string[] = [];

subscribe("http.server.request.start", () => {
  kept.push(Buffer.alloc(bytes, "x").toString("latin1"));
});
