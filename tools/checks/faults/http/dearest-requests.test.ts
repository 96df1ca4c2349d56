import { randomUUID } from "node:crypto";
import { startShippedBalancer } from "@petstore/harness/network";
import { dearValues } from "@petstore/harness/responses";
import { haproxyFile } from "../../programs.js";
import { type Api, apis, graphql, rest, twoOfEach } from "../environment/apis.js";
import { addLargestPets, documentsToExecute, documentsToRead, valuesToParse } from "../environment/dearest.js";
import { it } from "../environment/environment.js";
import { type Attack, checkMoment, heldUntilKeyIsStaleMs } from "../environment/moment.js";
import { checkPrices } from "../environment/price.js";
import { faultless, unthrottled } from "../environment/services.js";

const values = Object.entries(dearValues);

/** Plans, and a key that may be published in a web page. */
const keys: readonly Pick<Attack, "limits" | "scope" | "requests" | "what">[] = [
  { what: "60 of a Free key", requests: 60, limits: { perMinute: 60, perDay: 1_000 } },
  { what: "300 of a Pro key", requests: 300, limits: { perMinute: 300, perDay: 10_000 } },
  { what: "300 of a read key", requests: 300, limits: { perMinute: 1_000, perDay: 100_000 }, scope: "read" },
];
const holds = [
  { how: "whole", heldMs: 0 },
  { how: "with the last byte held back", heldMs: heldUntilKeyIsStaleMs },
];

it("dearest-body: costs at most 40 times a 401", async ({ environment, figures }) => {
  const probed = apis.map((api) => ({ api, isProbed: true }));
  for (const service of await environment.startServices({ ...faultless, ...unthrottled }, probed)) {
    const create = service.api.create("", "");
    const dear = values.map(([name, value]) => ({
      name,
      call: () => ({ ...create, body: bodyWith(service.api, value) }),
    }));
    await checkPrices(environment, figures, service, [{ name: "a small create", call: () => create }, ...dear]);
  }
});

it("dearest-requests: one key makes no other client wait for a second", async ({ environment, figures }) => {
  await environment.database.execute(addLargestPets);
  for (const service of await environment.startServices(faultless)) {
    for (const attack of attacksOn(service.api)) {
      await checkMoment(environment, figures, { ...attack, target: service, services: [service] });
    }
  }
});

it("dearest-requests-balanced: the shipped HAProxy takes no instance out", {
  tags: ["haproxy", "redis-server"],
}, async ({ environment, figures }) => {
  await environment.database.execute(addLargestPets);
  await environment.startWithRedis(faultless, twoOfEach);
  const servicesOf = (api: Api) => environment.services.filter((service) => service.api === api);
  const portsOf = (api: Api) => servicesOf(api).map(({ port }) => port);
  const ports = { rest: portsOf(rest), graphql: portsOf(graphql) };
  const balancer = environment.use(await startShippedBalancer(haproxyFile, ports));
  for (const { list } of apis) {
    const statusOf = async () => (await fetch(`${balancer.origin}${list.path}`, { method: list.method })).status;
    await balancer.until(async () => (await statusOf()) === 401);
  }
  for (const api of apis) {
    const target = { api, origin: balancer.origin, port: balancer.port };
    for (const attack of attacksOn(api)) {
      await checkMoment(environment, figures, { ...attack, target, services: servicesOf(api) });
    }
  }
});

/** With bodies, and with documents that no cache has. Each attack sends all of them in turn. */
function attacksOn(api: Api): Omit<Attack, "target" | "services">[] {
  const bodies = valuesToParse.map((value) => () => bodyWith(api, value));
  const documents = [...documentsToRead, ...documentsToExecute].map(
    ({ write }) =>
      () =>
        write(randomUUID()),
  );
  const contents = [
    { name: "bodies", writers: bodies },
    ...(api === graphql ? [{ name: "documents", writers: documents }] : []),
  ];
  return contents.flatMap(({ name, writers }) =>
    keys.flatMap(({ what, ...key }) =>
      holds.map(({ how, heldMs }) => ({
        ...key,
        what: `${api.name}, ${name}, ${what}, ${how}`,
        heldMs,
        bodyOf: (index) => writers[index % writers.length]?.() ?? "",
      })),
    ),
  );
}

/** The value in place of a new pet. */
function bodyWith(api: Api, value: string): string {
  const query = "mutation($i:NewPet!){createPet(input:$i){id}}";
  return api === rest ? value : `{"query":"${query}","variables":{"i":${value}}}`;
}
