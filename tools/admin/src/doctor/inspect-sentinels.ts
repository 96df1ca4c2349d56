import { openSentinel, type SentinelAddress, type SentinelLogin, type SentinelUrl } from "@petstore/core";

/** What one sentinel says, or why it says nothing. */
export type SentinelFacts = { readonly address: string } & (
  | { readonly unusable: string }
  | {
      /** Host and port. */
      readonly primary: string;
      /** Replicas that could take over now. */
      readonly replicas: number;
      /** How many sentinels it knows, itself included. */
      readonly sentinels: number;
      /** The reply of SENTINEL CKQUORUM. */
      readonly quorum: string;
      readonly hasQuorum: boolean;
    }
);

/** For messages: `host:port`. */
export function addressOf({ host, port }: SentinelAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Asks every sentinel of the URL. */
export function inspectSentinels(
  { sentinels, name, isTls }: SentinelUrl,
  login: SentinelLogin,
): Promise<SentinelFacts[]> {
  return Promise.all(sentinels.map(inspect));

  async function inspect(address: SentinelAddress): Promise<SentinelFacts> {
    const sentinel = openSentinel(address, isTls, login, () => null);
    // The reason of a failed connection. The commands then only say that there is no connection.
    let reason: Error | undefined;
    sentinel.on("error", (error: Error) => {
      reason ??= error;
    });
    const signal = AbortSignal.timeout(answerMs);
    const ask = async (command: string): Promise<unknown> => {
      signal.throwIfAborted();
      return sentinel.call("SENTINEL", command, name);
    };
    signal.addEventListener("abort", () => sentinel.disconnect());
    try {
      const primary = fieldsOf(await ask("MASTER"));
      const replicas = (await ask("REPLICAS")) as readonly unknown[];
      const quorum = await ask("CKQUORUM").catch((error: Error) => error);
      // As the services do. A user may lack the right.
      await sentinel.subscribe("+switch-master");
      return {
        address: addressOf(address),
        primary: addressOf({ host: primary.get("ip") ?? "", port: Number(primary.get("port")) }),
        replicas: replicas.map(fieldsOf).filter(canTakeOver).length,
        sentinels: Number(primary.get("num-other-sentinels")) + 1,
        quorum: quorum instanceof Error ? quorum.message : `${quorum}`,
        hasQuorum: !(quorum instanceof Error),
      };
    } catch (error) {
      const { message } = reason ?? (error as Error);
      return { address: addressOf(address), unusable: signal.aborted ? "no answer" : message };
    } finally {
      sentinel.disconnect();
    }
  }
}

const answerMs = 1_500;

function canTakeOver(fields: ReadonlyMap<string, string>): boolean {
  return fields.get("flags") === "slave" && fields.get("slave-priority") !== "0";
}

/** A reply is a list of names and values, one after the other. */
function fieldsOf(reply: unknown): ReadonlyMap<string, string> {
  const texts = (Array.isArray(reply) ? reply.flat() : []).map(String);
  return new Map(texts.flatMap((name, index) => (index % 2 === 0 ? [[name, texts[index + 1] ?? ""] as const] : [])));
}
