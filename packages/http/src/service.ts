import type { Core, HttpConfig } from "@petstore/core";
import type { Router } from "express";
import type { Logger } from "pino";
import { type Admission, createAdmission } from "./admission.js";
import { createApp } from "./app.js";
import { type Listener, listen } from "./listen.js";
import { createHttpServer } from "./server.js";
import { createUnparsedAnswer } from "./unparsed-answer.js";

/** What a door is built from. */
export interface DoorDeps {
  readonly core: Core;
  readonly admission: Admission;
  readonly config: HttpConfig;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** A way into the store: it answers everything below its own paths, problems included, and passes the rest on. */
export type Door = (deps: DoorDeps) => Router;

export interface ServiceOptions extends Omit<DoorDeps, "admission"> {
  readonly doors: readonly Door[];
}

/** Opens any number of doors on one port; disposing drains it. */
export function openService({ doors, ...deps }: ServiceOptions): Promise<Listener> {
  const admission = createAdmission(deps.core);
  const routers = doors.map((open) => open({ ...deps, admission }));
  const app = createApp({ ...deps, admission, routers });
  const answerUnparsed = createUnparsedAnswer({ admission, log: deps.log });
  const onFault = (error: unknown) => deps.log.error({ error }, "connection failed");
  return listen(createHttpServer({ app, answerUnparsed, onFault }), deps.config);
}
