import { expect, it } from "vitest";
import { isLeak } from "./leak.js";

it.each([
  "Bearer pets_live_0123456789",
  "connect to postgres://petstore:secret@127.0.0.1:5432/petstore",
  'insert into "pets" values ($1)',
  "select id from pets",
  "ReplyError: NOSCRIPT, evalsha 1234",
  "    at handle (server.js:10:5)",
  "file:///srv/app/main.js",
])("takes «%s» for a leak", (text) => {
  expect(isLeak(text)).toBe(true);
});
