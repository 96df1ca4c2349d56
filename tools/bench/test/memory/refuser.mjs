import { createServer } from "node:http";

createServer((_request, response) => response.writeHead(503).end("too busy")).listen(
  Number(process.env.PORT),
  "127.0.0.1",
);
