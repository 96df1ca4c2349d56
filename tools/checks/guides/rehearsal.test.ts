// Runs the guide to refusals like a reader: its settings of `npm start`, its commands, and its program with the client.
import {
  runCommands,
  runModule,
  type Snippet,
  type StandaloneStore,
  snippetsOf,
  startStandaloneStore,
} from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { withinOneMinute } from "../conformance/running-store.js";
import { standaloneMain } from "../programs.js";

const snippets = await snippetsOf("services/rest/docs/rehearsal.md");
const [strict, account, program, overLimit, overLimitInGraphql, ban, removal, removed, brownout, refused] = snippets;

it("the guide has these blocks that run", () => {
  expect(snippets).toHaveLength(10);
});

it("a 429 and a ban look as the guide says, over REST, in GraphQL and with the client", async () => {
  await using store = await startStandaloneStore(standaloneMain, settingsOf(strict));
  let attempts = 0;
  await withinOneMinute(async () => {
    attempts += 1;
    const run = runnerFor(store, await issueKey(store, `rehearsal-${attempts}`));
    expect(await run(overLimit)).toMatch(
      /^HTTP\/1.1 429 .*X-RateLimit-Limit: 3\r\nX-RateLimit-Remaining: 0\r\n.*Retry-After: \d+\r\n.*"RATE_LIMIT_EXCEEDED"/s,
    );
    const extensions = { code: "RATE_LIMIT_EXCEEDED", status: 429, limit: 3, remaining: 0 };
    const shown = { ...extensions, retryAfter: expect.any(Number), reset: expect.any(Number) };
    expect(JSON.parse(await run(overLimitInGraphql))).toMatchObject({ errors: [{ extensions: shown }] });
    expect(await run(program)).toMatch(/^RATE_LIMIT_EXCEEDED 20\d\d-/);

    expect(await run(ban)).toMatch(/^HTTP\/1.1 429 .*Retry-After: \d+\r\n.*"API_KEY_BANNED"/s);
    expect(await run(overLimitInGraphql)).toContain('"code":"API_KEY_BANNED"');
    expect(await run(program)).toMatch(/^API_KEY_BANNED until 20\d\d-/);
  });
});

const announced =
  /^HTTP\/1.1 410 Gone\r\n.*Deprecation: @1795132800\r\nSunset: Thu, 05 Dec 2030 00:00:00 GMT\r\n.*"ENDPOINT_REMOVED"/s;

it("the removal looks as the guide says, and TEST_CLOCK changes neither the quota nor the key", async () => {
  await using store = await startStandaloneStore(standaloneMain, settingsOf(removal));
  const run = runnerFor(store, await issueKey(store));
  const output = await run(removed);
  expect(output).toMatch(announced);
  expect(output).not.toContain("Retry-After");
  const reset = Number(/X-RateLimit-Reset: (\d+)/.exec(output)?.[1]);
  expect(Math.abs(reset * 1_000 - Date.now())).toBeLessThan(10 * 60_000);
  expect(await run(program)).toBe("ENDPOINT_REMOVED \n");
});

it("a brownout looks as the guide says", async () => {
  await using store = await startStandaloneStore(standaloneMain, settingsOf(brownout));
  const run = runnerFor(store, await issueKey(store));
  const output = await run(refused);
  expect(output).toMatch(announced);
  expect(output).toMatch(/X-RateLimit-Remaining: 3\r\n.*Retry-After: \d+\r\n.* again from Mon, 01 Mar 2027 12:05:00 /s);
  expect(await run(program)).toMatch(/^ENDPOINT_REMOVED 20\d\d-/);
});

/** The settings before `npm start`. */
function settingsOf(snippet: Snippet | undefined): Readonly<Record<string, string>> {
  const { code } = block(snippet);
  expect(code).toMatch(/^([A-Z_]+=\S+ )+npm start\n$/);
  const settings = [...code.matchAll(/([A-Z_]+)=(\S+) /g)].map(([, name = "", value = ""]) => [name, value]);
  return Object.fromEntries(settings);
}

/** Creates the account of the guide, and returns its key. */
async function issueKey(store: StandaloneStore, name = "rehearsal"): Promise<string> {
  const { language, code } = block(account);
  const output = await runnerFor(store, "")({ language, code: code.replaceAll(/\brehearsal\b/g, name) });
  expect(output).toMatch(/^perMinute +3$/m);
  return /^key +(pets_test_\w+)$/m.exec(output)?.[1] ?? expect.unreachable(output);
}

type Run = (snippet: Snippet | undefined) => Promise<string>;

function runnerFor({ origin, directory }: StandaloneStore, key: string): Run {
  const env = {
    // biome-ignore lint/style/noProcessEnv: the commands run curl and node.
    PATH: process.env.PATH,
    BASE_URL: `${origin}/v1`,
    GRAPHQL_URL: `${origin}/graphql`,
    PETSTORE_DIR: directory,
    API_KEY: key,
  };
  return (snippet) => {
    const { language, code } = block(snippet);
    return language === "sh" ? runCommands(code, env) : runModule(code, env, new URL("../dist/", import.meta.url));
  };
}

function block(snippet: Snippet | undefined): Snippet {
  return snippet ?? expect.unreachable("the guide has fewer blocks");
}
