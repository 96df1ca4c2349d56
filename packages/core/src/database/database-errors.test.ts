import { DatabaseError } from "pg";
import { describe, expect, it } from "vitest";
import { asProblem, DatabaseTimeout, sqlState } from "./database-errors.js";

const unavailable = "The database is unavailable; try again shortly.";
const late = "The database did not answer in time; try again shortly.";

describe("a failed connection or query", () => {
  it.each([
    ["08006", "a connection lost", unavailable],
    ["26000", "a prepared statement that a pooler removed", unavailable],
    ["28P01", "a password that was changed", unavailable],
    ["3D000", "a database that is being restored", unavailable],
    ["53300", "too many connections", unavailable],
    ["55000", "a database that takes no connections", unavailable],
    ["57P01", "a backend terminated", unavailable],
    ["57P03", "a server starting up", unavailable],
    ["0A000", "a plan prepared before a migration", unavailable],
    ["57014", "a statement cut off at its limit", late],
    ["55P03", "a lock that was not free in time", late],
  ])("%s, %s, may succeed later: SERVICE_UNAVAILABLE", (code, _, message) => {
    const problem = asProblem(databaseError(code));
    expect(problem).toMatchObject({ code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1, message });
    expect(sqlState(problem)).toBe(code);
  });

  it.each([
    ["42P01", "an unknown table"],
    ["23514", "a violated check"],
  ])("%s, %s, is INTERNAL_ERROR", (code) => {
    expect(asProblem(databaseError(code))).toMatchObject({ code: "INTERNAL_ERROR" });
  });

  it.each([
    [new Error("connection refused"), unavailable],
    [new DatabaseTimeout("no answer"), late],
  ])("without an error code of the server may succeed later: %s", (error, message) => {
    expect(asProblem(error)).toMatchObject({ code: "SERVICE_UNAVAILABLE", message });
  });
});

function databaseError(code: string): DatabaseError {
  return Object.assign(new DatabaseError("", 0, "error"), { code });
}
