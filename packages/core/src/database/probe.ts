import { Client } from "pg";
import { asProblem } from "./availability.js";
import { clientConfigOf } from "./client-config.js";
import type { DatabaseConfig } from "./database.js";
import { endClient } from "./end-client.js";
import { sendQuery } from "./send-query.js";
import type { Statement } from "./statement.js";

/** A connection outside the pool, so that a busy pool does not look like an unavailable database. */
export interface Probe extends AsyncDisposable {
  /** Opens the connection when there is none. One call at a time. Throws a Problem. */
  ask<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]>;
}

export function openProbe(config: DatabaseConfig): Probe {
  let client: Client | undefined;

  function open(): Client {
    const opened = new Client({ ...clientConfigOf(config, config.readTimeoutMs), application_name: "petstore-health" });
    opened.on("error", () => drop(opened));
    client = opened;
    return opened;
  }

  function drop(lost: Client): void {
    if (client === lost) client = undefined;
    void endClient(lost);
  }

  return {
    async ask<Values, Row>(statement: Statement<Values, Row>, values: Values) {
      const isOpen = client !== undefined;
      const asked = client ?? open();
      try {
        if (!isOpen) await asked.connect();
        const { text, bind } = statement;
        return await sendQuery<Row>(asked, { name: "", text, values: bind(values), timeoutMs: config.readTimeoutMs });
      } catch (error) {
        const problem = asProblem(error);
        if (problem.code === "SERVICE_UNAVAILABLE") drop(asked);
        throw problem;
      }
    },
    async [Symbol.asyncDispose]() {
      if (client !== undefined) await endClient(client);
    },
  };
}
