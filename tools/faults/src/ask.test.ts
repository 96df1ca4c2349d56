import { expect, it } from "vitest";
import { answerOf } from "./ask.js";

const answer = { sentAtMs: 0, status: 200, text: "[]" };

it.each([
  ["nothing", {}, {}, false],
  ["a stack in the body", { text: "at handle (/srv/main.js:1:1)" }, {}, true],
  ["a key in a header", {}, { "www-authenticate": "Bearer pets_live_x" }, true],
  ["a file in one of several headers of a name", {}, { link: ["</v2>", "<file:///srv>"] }, true],
] as const)("an answer that tells %s", (_what, body, headers, leaks) => {
  expect(answerOf({ ...answer, ...body, headers: headers as Record<string, string | string[]> })).toMatchObject({
    leaks,
  });
});
