import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { choosePort } from "@petstore/embedded-postgres";
import { Pool } from "undici";

export interface Reply {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** A change of the replies to requests whose target or body matches a pattern. */
export interface Plant {
  readonly when: RegExp;
  plant(reply: Reply): void;
}

/** Stands in front of a service and changes its replies. */
export async function openPlantingProxy(
  origin: string,
  plants: readonly Plant[],
): Promise<AsyncDisposable & { readonly origin: string }> {
  const pool = new Pool(origin);
  // What is too long is for the service to refuse.
  const server = createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    const body = await buffer(request);
    const { method = "GET", url: path = "/", rawHeaders } = request;
    // As they came: names that come twice, and targets no URL parser may tidy up.
    const headers = rawHeaders.flatMap((name, at) =>
      at % 2 === 0 && !hopByHop.has(name.toLowerCase()) ? [name, rawHeaders[at + 1] ?? ""] : [],
    );
    try {
      const answer = await pool.request({ path, method: method as "GET", headers, ...(body.length > 0 && { body }) });
      const said = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, `${value}`]));
      const reply: Reply = { status: answer.statusCode, headers: said, text: await answer.body.text() };
      for (const { when, plant } of plants) if (when.test(`${path}\n${body}`)) plant(reply);
      for (const name of hopByHop) delete reply.headers[name];
      response.writeHead(reply.status, reply.headers).end(reply.text);
    } catch {
      // Noticed as a request without an answer.
      response.destroy();
    }
  });
  server.maxHeadersCount = 0;
  const port = await choosePort(undefined);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await pool.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const hopByHop = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
  "host",
  "expect",
  "upgrade",
]);
