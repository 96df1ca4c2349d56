import { createsWhileKilled, fullSpeedInRealTime } from "./real-scenarios.js";
import { openRealStore } from "./real-store.js";
import { fullSpeed, killedForTenSeconds } from "./virtual-scenarios.js";

const print = (row: string, figures: object): void => {
  const text = Object.entries(figures).map(
    ([name, value]) => `${name} ${name === "throughput" ? percent(value) : value}`,
  );
  process.stdout.write(`${row.padEnd(58)} ${text.join("  ")}\n`);
};
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

process.stdout.write("In virtual time, in front of the quota engine:\n");
print("one client, Free, 5 minutes", await fullSpeed(1, 5, 1));
print("ten clients of one account and key, Free, 5 minutes", await fullSpeed(10, 5, 1));
print("service killed for 10 s under creates", await killedForTenSeconds(1));

process.stdout.write("\nIn real time, in front of the service and PostgreSQL; this takes up to 4 minutes:\n");
await using store = await openRealStore();
const killed = createsWhileKilled(store, { creates: 2_000, killAfterMs: 1_000, downMs: 10_000 });
print("service killed for 10 s under creates", await killed);
const [one, ten] = await Promise.all([fullSpeedInRealTime(store, 1, 2), fullSpeedInRealTime(store, 10, 2)]);
print("one client, Free, 2 minutes", one);
print("ten clients of one account and key, Free, 2 minutes", ten);
