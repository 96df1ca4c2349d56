// "Starting on one machine without containers" of the operations guide, word for word, and the files that it installs.
import { mkdir, readlink, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describeWithProgram, shared } from "@petstore/harness";
import { markedCommands, openTemporaryDirectory, repository } from "@petstore/harness/processes";
import { describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { read, run } from "./commands.js";
import { openMachine } from "./machine.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const guide = "tools/deploy/operations.md";
/** The processes that the guide starts, such as `petstore-rest@3001`. */
const processes = [...new Set((await markedCommands(guide, "machine-start")).match(/petstore-\w+@\d+/g))];
const unit = await read("systemd/petstore-api@.service");
const settings = await read("systemd/petstore.env");
const settingOf = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(settings)?.[1] ?? "";

/** A shorter grace than in the guide saves time. A busy machine causes no 503: a statement may take as long as it needs. */
const testSettings = {
  SHUTDOWN_GRACE_MS: "3000",
  DATABASE_ACQUIRE_TIMEOUT_MS: "60000",
  DATABASE_READ_TIMEOUT_MS: "60000",
  DATABASE_WRITE_TIMEOUT_MS: "60000",
  SHED_EVENT_LOOP_DELAY_MS: "0",
  SHED_DATABASE_QUEUE: "0",
};
const programs = ["haproxy", "prometheus", "promtool", "redis-server", "redis-cli", "psql", "openssl", "curl"];

describeWithProgram(programs, "one machine without containers", async () => {
  const machine = await shared(openMachine(testSettings));
  const balancer = machine.here("http://127.0.0.1:8080");
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  const list = () => send("/v1/pets");
  const create = () => send("/v1/pets", { name: "Rex", categoryId: 1 });
  const ask = () => send("/graphql", { query: "{ pets { id } }" });
  /** Reads the whole response: a connection that breaks in it is a failed request. */
  async function send(path: string, body?: object) {
    const message = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${balancer}${path}`, { ...message, headers });
    return { ok: response.ok, text: await response.text() };
  }
  const pidsOf = (names: readonly string[]) => names.map((name) => machine.running.get(machine.here(name))?.pid);

  it("serves both APIs, after the commands of the guide", async () => {
    // An ordinary user builds the release in the repository, with a home directory of its own.
    const home = (await machine.sh("echo $HOME")).trim();
    const build = (await markedCommands(guide, "machine-build"))
      // The test runs on the built output of this repository, whose packages are installed.
      .replace("npm run build\n", "")
      .replace("node run.mjs pnpm", "node_modules/.bin/pnpm")
      .replaceAll("~/", `${home}/`);
    const env = { ...process.env, NODE_ENV: undefined, CI: "true" };
    await run("sh", ["-euc", build], { cwd: fileURLToPath(repository), env });

    for (const mark of ["machine-release", "private-folder", "roles", "machine-redis", "machine-settings"]) {
      await machine.follow(mark);
    }
    const ping = machine.here("redis-cli -u redis://127.0.0.1:6379 ping");
    await expect.poll(() => machine.sh(ping).catch(String)).toContain("NOAUTH");
    await machine.follow("machine-start");
    for (const port of processes.map((name) => name.split("@")[1])) {
      const ready = `curl --silent http://127.0.0.1:1${port}/readyz`;
      await expect.poll(() => machine.sh(ready).catch(String), { timeout: 60_000 }).toBe('{"status":"ready"}');
    }
    const issued = await machine.follow("machine-key");
    headers.Authorization = `Bearer ${/pets_live_\w+/.exec(issued)?.[0]}`;
    await machine.follow("machine-balancer");
    await machine.follow("machine-prometheus");
    await machine.sh("petstore account set-plan shop enterprise --per-minute 1000000 --per-day 10000000");
    for (const request of [list, ask]) {
      await expect.poll(request, { timeout: 60_000 }).toMatchObject({ ok: true });
    }
  });

  it("keeps every password in files that only root can read", async () => {
    const made = await machine.sh("find ~/petstore-private /etc/petstore -type f");
    const paths = made.trim().split("\n");
    expect(paths.map((path) => path.split("/").at(-1)).sort()).toEqual([
      ...["database-owner-url", "database-url", "owner-password", "petstore.env"],
      ...["redis-password", "redis-url", "service-password"],
    ]);
    for (const path of paths.filter((one) => one.includes("/etc/")))
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    for (const name of ["~/petstore-private", "/etc/petstore"]) {
      const path = (await machine.sh(`echo ${name}`)).trim();
      expect((await stat(path)).mode & 0o777, path).toBe(0o700);
    }
    // Every user of the machine can see the arguments of a process.
    for (const { pid } of machine.running.values()) {
      expect(await machine.sh(`tr '\\0' ' ' < /proc/${pid}/cmdline`)).not.toMatch(/[0-9a-f]{48}/);
    }
  });

  it("takes the address of a client from its balancer, and not from the client", async () => {
    const remaining = async (address: string) => {
      const response = await fetch(`${balancer}/v1/pets`, { headers: { "X-Forwarded-For": address } });
      return Number(response.headers.get("X-RateLimit-Remaining"));
    };
    const first = await remaining("203.0.113.7");
    expect(first).toBeGreaterThan(0);
    // Each process counts for itself, so the second request of an address may reach the other one.
    expect([await remaining("203.0.113.8"), await remaining("203.0.113.9")]).toContain(first - 1);
  });

  it("loses no request while the commands of the guide replace every process by a new version", async () => {
    const before = pidsOf(processes);
    const failures: unknown[] = [];
    let succeeded = 0;
    let isRolling = true;
    const clients = [list, ask, create, list].map(async (request) => {
      while (isRolling) {
        const response = await request().catch((error: Error) => error);
        if (response instanceof Error || !response.ok) failures.push(response);
        else succeeded += 1;
        await sleep(5);
      }
    });
    try {
      await machine.follow("machine-roll");
    } finally {
      isRolling = false;
      await Promise.all(clients);
    }
    expect(failures).toEqual([]);
    expect(succeeded).toBeGreaterThan(100);
    expect(machine.exits).toEqual([...processes.map(() => 0)]);
    expect(pidsOf(processes).filter((pid) => before.includes(pid))).toEqual([]);
    expect(await readlink((await machine.sh("echo /opt/petstore/current")).trim())).toBe("1.2.0");
  });

  it("goes back to the version before with the same loop", async () => {
    const roll = await markedCommands(guide, "machine-roll");
    const loop = roll.slice(roll.indexOf("for process in"));
    const before = pidsOf(processes);
    await machine.sh(`ln -sfn 1.1.0 /opt/petstore/current\n${loop}`);
    expect(pidsOf(processes).filter((pid) => before.includes(pid))).toEqual([]);
    expect(await readlink((await machine.sh("echo /opt/petstore/current")).trim())).toBe("1.1.0");
    expect(await create()).toMatchObject({ ok: true });
  });

  it("has a Prometheus that reads the metrics of every process, with the API as the label service", async () => {
    const search = new URLSearchParams({ query: 'up{job="petstore"}' });
    const url = `${machine.here("http://127.0.0.1:9090")}/api/v1/query?${search}`;
    const targets = async () => {
      const { data } = (await (await fetch(url)).json()) as { readonly data: { readonly result: readonly Sample[] } };
      return data.result.map(({ metric, value }) => `${metric.service} ${metric.instance} ${value[1]}`).sort();
    };
    const expected = processes.map((name) => {
      const [, api, port] = /-(\w+)@(\d+)/.exec(name) ?? [];
      return machine.here(`${api} 127.0.0.1:1${port} 1`);
    });
    // It reads each target every 15 s.
    await expect.poll(targets, { timeout: 120_000, interval: 500 }).toEqual(expected.sort());
  });
});

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

describe("the files for one machine", () => {
  it("name the same processes: the guide, HAProxy in both backends of each API, Prometheus, and the number in the settings", async () => {
    expect(processes).toHaveLength(Number(settingOf("QUOTA_INSTANCES")));
    const rolled = / for process in (.*); do$/m.exec(await markedCommands(guide, "machine-roll"))?.[1];
    expect(rolled?.split(" ").map((name) => `petstore-${name}`)).toEqual(processes);
    const servers = [...(await read("systemd/haproxy.cfg")).matchAll(/^ +server ([a-z]+)(\d+) 127\.0\.0\.1:\2$/gm)];
    const balanced = servers.map(([, api, port]) => `petstore-${api}@${port}`);
    expect(balanced.sort()).toEqual([...processes, ...processes].sort());
    const { scrape_configs: jobs } = parse(await read("systemd/prometheus.yaml"));
    const groups: readonly { labels: { service: string }; targets: string[] }[] = jobs[0].static_configs;
    const watched = groups.flatMap(({ labels, targets }) =>
      targets.map((target) => `petstore-${labels.service}@${target.replace("127.0.0.1:1", "")}`),
    );
    expect(watched).toEqual(processes);
  });

  it("let HAProxy alone name client addresses, and ask of PostgreSQL no more connections than it has", () => {
    expect(settingOf("TRUST_PROXY")).toBe("127.0.0.1");
    expect(`${settings}${unit}`).not.toMatch(/^(?:Environment=)?(?:METRICS_)?HOST=/m);
    // PostgreSQL keeps 3 of its 100 connections for its superuser, and the petstore command needs some.
    expect(processes.length * (Number(settingOf("DATABASE_POOL_SIZE")) + 2)).toBeLessThanOrEqual(100 - 3 - 5);
  });

  it("wait longer for a process that stops than it drains, and start it again whenever it ends", () => {
    const timeoutMs = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) * 1_000;
    expect(timeoutMs).toBeGreaterThanOrEqual(Number(settingOf("SHUTDOWN_GRACE_MS")) + 10_000);
    expect(unit).toMatch(/^Restart=always$/m);
    expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  });

  it("give the user of Redis the rights that the guide lists, and those of petstore doctor", async () => {
    const [, rights] = /^ {4}user petstore on >PASSWORD (.*)$/m.exec(await read("operations.md")) ?? [];
    expect(await markedCommands(guide, "machine-redis")).toContain(` ${rights} +info\n`);
  });

  it("give the address of the owner to the migrations alone, and no password to the environment", async () => {
    const migrate = await read("systemd/petstore-migrate.service");
    expect(unit).not.toContain("owner");
    expect(migrate).toMatch(/^LoadCredential=database-url:\/etc\/petstore\/database-owner-url$/m);
    for (const text of [unit, migrate, settings])
      expect(text).not.toMatch(/^(?:Environment=.*)?\w+_URL=(postgres|redis)/m);
  });
});

describeWithProgram("systemd-analyze", "systemd", async () => {
  const directory = await shared(openTemporaryDirectory());
  const names = ["petstore-rest@.service", "petstore-graphql@.service", "petstore-migrate.service"];
  const paths = names.map((name) => join(directory.path, name));

  it("understands every line of the units", async () => {
    // It looks for the program of a unit.
    const here = (text: string) => text.replaceAll("/usr/bin/node", process.execPath);
    for (const [index, text] of [unit, unit, await read("systemd/petstore-migrate.service")].entries()) {
      await writeFile(paths[index] ?? "", here(text));
    }
    const dropIns = join(directory.path, "petstore-.service.d");
    await mkdir(dropIns);
    await writeFile(join(dropIns, "hardening.conf"), await read("systemd/hardening.conf"));
    const { stdout, stderr } = await run("systemd-analyze", ["verify", "--man=no", "--recursive-errors=no", ...paths]);
    expect(`${stdout}${stderr}`).toBe("");
  });

  it.each(names)("finds that %s gives a process few rights", async (name) => {
    // From 0 to 100. A unit without these lines has 96.
    const words = ["security", "--offline=yes", "--no-pager", "--threshold=20", join(directory.path, name)];
    await run("systemd-analyze", words);
  });
});
