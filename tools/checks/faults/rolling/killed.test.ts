// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { apis, twoOfEach } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { count, isAcknowledged, isFailure } from "../environment/results.js";
import { faultless } from "../environment/services.js";

const clients = 16;

it("instance-killed: SIGKILL fails no more creates than were in flight, and their retries create nothing twice", async ({
  environment,
  figures,
}) => {
  // The creates in flight.
  environment.allowFailures();
  await environment.startWithRedis(faultless, twoOfEach);
  const { services } = environment;
  for (const [index, { name }] of apis.entries()) {
    const [killed, other] = services.filter(({ api }) => api === apis[index]);
    let target = killed;
    // They repeat each create until it succeeds, with its idempotency key.
    const creates = await environment.startCreates({ clients, target: () => target });
    const others = await environment.startCreates({ clients, target: () => other });
    await sleep(2_000);
    const before = count(creates.results, isAcknowledged);
    target = other;
    environment.markFault();
    await environment.kill(killed);
    await sleep(2_000);
    await Promise.all([creates.stop(), others.stop()]);
    const failures = count(creates.results, isFailure);
    figures.atLeast(1, `${name}: creates before the kill`, before);
    figures.atLeast(1, `${name}: failed creates, which are repeated`, failures);
    figures.atMost(clients, `${name}: failed creates of ${creates.results.length}`, failures);
    figures.count(0, `${name}: failed creates at the other instance`, others.results, isFailure);
    figures.atLeast(before + clients, `${name}: creates in the end`, count(creates.results, isAcknowledged));
  }
});
