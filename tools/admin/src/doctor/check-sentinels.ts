import { openSentinel, type SentinelAddress, type SentinelLogin, type SentinelUrl } from "@petstore/core";
import { type Finding, fault, ok, warning } from "./finding.js";

const answerMs = 1_500;

/** Checks what each sentinel of REDIS_URL knows: the primary, its replicas, and whether they could replace it. */
export async function checkSentinels(url: SentinelUrl, login: SentinelLogin): Promise<Finding[]> {
  const answers = await Promise.all(url.sentinels.map((address) => checkSentinel(address, url, login)));
  const primaries = [...new Set(answers.flatMap(({ primary }) => primary ?? []))];
  const findings = answers.flatMap((answer) => answer.findings);
  return primaries.length === 0 ? findings : [...findings, checkPrimary(primaries)];
}

/** For messages: `host:port`. */
export function addressOf({ host, port }: SentinelAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

async function checkSentinel(
  address: SentinelAddress,
  { isTls, name, sentinels: named }: SentinelUrl,
  login: SentinelLogin,
): Promise<{ findings: Finding[]; primary?: string }> {
  const check = `sentinel ${addressOf(address)}`;
  const sentinel = openSentinel(address, isTls, login, () => null);
  // The reason of a failed connection. The commands then only say that there is no connection.
  let reason: Error | undefined;
  sentinel.on("error", (error: Error) => {
    reason ??= error;
  });
  const signal = AbortSignal.timeout(answerMs);
  const ask = (command: string) => sentinel.call("SENTINEL", command, name);
  signal.addEventListener("abort", () => sentinel.disconnect());
  try {
    const primary = fieldsOf(await ask("MASTER"));
    const others = ((await ask("REPLICAS")) as readonly unknown[]).map(fieldsOf);
    const replicas = others.filter((fields) => fields.flags === "slave" && fields["slave-priority"] !== "0").length;
    const quorum = await ask("CKQUORUM").catch((error: Error) => error);
    // As the services do. A user may lack the right.
    await sentinel.subscribe("+switch-master");
    const sentinels = Number(primary["num-other-sentinels"]) + 1;
    return {
      primary: addressOf({ host: `${primary.ip}`, port: Number(primary.port) }),
      findings: [
        quorum instanceof Error
          ? fault(
              `${check} quorum`,
              quorum.message,
              "Start the other sentinels: without a majority no replica is promoted.",
            )
          : ok(`${check} quorum`, `${quorum}`),
        replicas > 0
          ? ok(`${check} replicas`, `${replicas} can take over`)
          : fault(`${check} replicas`, "none can take over", "Start a replica, and look at SENTINEL REPLICAS."),
        sentinels < 3
          ? warning(check, `knows ${sentinels} sentinels`, "Run three: a majority of two is two, so none may fail.")
          : sentinels > named.length
            ? warning(check, `knows ${sentinels} sentinels, of ${named.length} in REDIS_URL`, "Name all in REDIS_URL.")
            : ok(check, `knows ${sentinels} sentinels`),
      ],
    };
  } catch (error) {
    const message = signal.aborted ? "no answer" : (reason ?? (error as Error)).message;
    const advice = message.includes("No such master")
      ? `The name after the last sentinel in REDIS_URL, ${name}, must be a name of SENTINEL MASTERS.`
      : "Start it, or correct REDIS_URL, REDIS_SENTINEL_USERNAME or REDIS_SENTINEL_PASSWORD: a failover needs a majority of the sentinels.";
    return { findings: [fault(check, `cannot be used: ${message}`, advice)] };
  } finally {
    sentinel.disconnect();
  }
}

function checkPrimary(primaries: readonly string[]): Finding {
  const check = "sentinel primary";
  if (primaries.length === 1) return ok(check, `${primaries}`);
  const advice = "Wait for the end of a failover. If this stays, some sentinels cannot reach the others.";
  return fault(check, `the sentinels name different ones: ${primaries.join(", ")}`, advice);
}

/** A reply is a list of names and values, one after the other. */
function fieldsOf(reply: unknown): Readonly<Record<string, string | undefined>> {
  const texts = reply as readonly string[];
  return Object.fromEntries(texts.flatMap((name, index) => (index % 2 === 0 ? [[name, texts[index + 1]]] : [])));
}
