import { DatabaseError } from "pg";
import { describe, expect, it } from "vitest";
import { asProblem, DatabaseTimeout, sqlState } from "./database-errors.js";

describe("a failed connection or query", () => {
  it.each([
    ["08006", "a connection lost"],
    ["28P01", "a password that was changed"],
    ["3D000", "a database that is being restored"],
    ["53300", "too many connections"],
    ["55000", "a database that takes no connections"],
    ["57P01", "a backend terminated"],
    ["57P03", "a server starting up"],
    ["57014", "a statement cut off at its limit"],
    ["0A000", "a plan prepared before a migration"],
  ])("%s, %s, may succeed later: SERVICE_UNAVAILABLE", (code) => {
    const problem = asProblem(databaseError(code));
    expect(problem).toMatchObject({ code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 });
    expect(sqlState(problem)).toBe(code);
  });

  it.each([
    ["42P01", "an unknown table"],
    ["42601", "a syntax error"],
    ["22012", "a division by zero"],
    ["23514", "a violated check"],
  ])("%s, %s, is INTERNAL_ERROR", (code) => {
    expect(asProblem(databaseError(code))).toMatchObject({ code: "INTERNAL_ERROR" });
  });

  it.each([
    ["57014", "did not answer in time"],
    ["55P03", "did not answer in time"],
    ["57P01", "is unavailable"],
    ["53300", "is unavailable"],
  ])("%s says that the database %s", (code, state) => {
    expect(asProblem(databaseError(code)).message).toBe(`The database ${state}; try again shortly.`);
  });

  it("without an error code of the server may succeed later", () => {
    expect(asProblem(new Error("connection refused"))).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: "The database is unavailable; try again shortly.",
    });
    expect(asProblem(new DatabaseTimeout("no answer"))).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: "The database did not answer in time; try again shortly.",
    });
  });
});

function databaseError(code: string): DatabaseError {
  return Object.assign(new DatabaseError("", 0, "error"), { code });
}
