import { describe, expect, it } from "vitest";
import { Problem, problems } from "./problem.js";

describe("a problem", () => {
  it("shows its code, its message and the status of its code", () => {
    expect(JSON.stringify(new Problem("PET_NOT_FOUND", "gone"))).toBe(
      '{"code":"PET_NOT_FOUND","message":"gone","status":404}',
    );
  });

  it("has the meaning of its code as its default message", () => {
    expect(new Problem("NOT_ACCEPTABLE").message).toBe(problems.NOT_ACCEPTABLE.meaning);
  });

  it("hides any other error behind INTERNAL_ERROR, and keeps it as the cause", () => {
    for (const thrown of [new Error("select secret"), "text", undefined, null, { code: "23505" }]) {
      const problem = Problem.from(thrown);
      expect(problem).toMatchObject({ code: "INTERNAL_ERROR", status: 500, cause: thrown });
      expect(JSON.stringify(problem)).not.toMatch(/secret|23505/);
    }
  });

  it("passes a problem through as it is", () => {
    const problem = new Problem("PET_NOT_FOUND");
    expect(Problem.from(problem)).toBe(problem);
  });
});
