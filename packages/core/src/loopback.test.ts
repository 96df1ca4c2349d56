import { expect, it } from "vitest";
import { isLoopback } from "./loopback.js";

it.each(["127.0.0.1", "127.255.255.254", "::1", "[::1]", "localhost", "", "::ffff:127.0.0.1"])(
  "%j stays on the machine",
  (host) => expect(isLoopback(host)).toBe(true),
);

it.each(["0.0.0.0", "::", "128.0.0.1", "126.255.255.255", "10.0.0.1", "[::2]", "redis", "localhost.example.com"])(
  "%j does not",
  (host) => expect(isLoopback(host)).toBe(false),
);
