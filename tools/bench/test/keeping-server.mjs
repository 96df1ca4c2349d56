import { createServer } from "node:http";

const kept = [];

createServer((_request, response) => {
  kept.push(Buffer.alloc(Number(process.env.KEPT_BYTES)).toString("latin1"));
  response.end();
}).listen(Number(process.env.PORT), "127.0.0.1");
