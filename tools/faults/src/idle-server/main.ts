import { createServer } from "node:http";

// Does nothing, so that what it takes to answer is what the machine takes. Ends with whoever has started it.
const server = createServer((_request, response) => void response.writeHead(204).end());
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : address}\n`);
});
