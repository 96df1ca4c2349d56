import { setTimeout as sleep } from "node:timers/promises";
import type { Service } from "./services.js";

/** Asks every service, as a balancer does, and counts the answers that would take it out. */
export function watchReadiness(services: readonly Service[]) {
  let isStopped = false;
  let unready = 0;
  const watch = async ({ origin }: Service): Promise<void> => {
    while (!isStopped) {
      const status = await statusOf(`${origin}/readyz`).catch(() => undefined);
      if (status !== 200) unready += 1;
      await sleep(100);
    }
  };
  const done = Promise.all(services.map(watch));
  return {
    async stop(): Promise<number> {
      isStopped = true;
      await done;
      return unready;
    },
  };
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}
