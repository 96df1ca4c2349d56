import { type Balancer, startHaproxy } from "./balancer.js";

/** A PostgreSQL under Patroni. */
export interface DatabaseNode {
  readonly port: number;
  readonly restPort: number;
}

/** HAProxy in front of PostgreSQL. It forwards to the node whose Patroni answers `/primary` with 200. */
export function startPrimaryBalancer(nodes: readonly DatabaseNode[]): Promise<Balancer> {
  return startHaproxy((port, statsSocket) => configuration(nodes, port, statsSocket), 1);
}

function configuration(nodes: readonly DatabaseNode[], port: number, statsSocket: string): string {
  const servers = nodes.map(
    (node, index) => `  server service${index} 127.0.0.1:${node.port} check port ${node.restPort}\n`,
  );
  return `global
  maxconn 4000
  stats socket ${statsSocket} mode 600 level operator
defaults
  mode tcp
  # Without a primary, the clients must see it at once.
  retries 0
  timeout connect 1s
  timeout check 1s
  # Longer than any idle connection of a pool lasts.
  timeout client 24h
  timeout server 24h
listen primary
  bind 127.0.0.1:${port}
  option httpchk
  http-check send meth OPTIONS uri /primary
  http-check expect status 200
  # A node that is no longer the primary must not keep the sessions that it had.
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join("")}`;
}
