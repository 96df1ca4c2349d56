import { sql } from "kysely";
import { type Statement, statement } from "../database/statement.js";

/** Says something to whoever listens on a channel. */
export const notify: Statement<{ channel: string; payload: string }, { told: unknown }> = statement(
  "notify",
  (db, slot) => db.selectNoFrom(sql`pg_notify(${slot("channel")}::text, ${slot("payload")}::text)`.as("told")),
);
