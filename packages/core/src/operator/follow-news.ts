import type { Authenticator } from "../access/authenticator.js";
import type { Database } from "../database/database.js";
import { type Listener, openListener } from "../database/listener.js";
import type { Log } from "../log.js";
import type { QuotaMode } from "../quota/decision.js";
import type { BanRecord, Quota } from "../quota/quota.js";
import type { BanLifter } from "./ban-lifter.js";
import { type Answer, answerChannel, listenerName, newsChannel, type Question, readNews } from "./news.js";
import { notify } from "./notify.js";

export interface FollowNewsDeps {
  /** A session of our own: see `openListener`. */
  readonly url: string;
  readonly database: Database;
  readonly authenticator: Pick<Authenticator, "forgetAccount" | "forgetAll">;
  readonly quota: Quota;
  readonly mode: () => QuotaMode;
  readonly bans: BanLifter;
  /** What this instance calls itself. */
  readonly instance: string;
  readonly log: Log;
}

/** Acts on what changes while this instance runs, and answers what operators ask it. */
export function followNews(deps: FollowNewsDeps): Listener {
  const { url, database, authenticator, quota, mode, bans, instance, log } = deps;

  function onMessage(payload: string): void {
    const news = readNews(payload);
    if (news === undefined) return;
    if (news.kind === "question") {
      void reply(news.question, news.ask);
      return;
    }
    authenticator.forgetAccount(BigInt(news.account));
    if (news.lifted !== undefined) void bans.lift(news.account, news.lifted.key, news.lifted.atMs);
  }

  async function reply(question: string, ask: Question): Promise<void> {
    const sender = { question, instance, mode: mode() };
    try {
      for (const part of await partsOf(ask)) await tell({ ...sender, ...part });
    } catch (error) {
      log.warn({ error }, "could not answer an operator's question");
      // Where this fails too, the operator is told that an instance did not answer.
      await tell({ ...sender, failed: true }).catch(() => {});
    }
  }

  async function tell(answer: Answer): Promise<void> {
    await database.run(notify, { channel: answerChannel, payload: JSON.stringify(answer) });
  }

  async function partsOf(ask: Question): Promise<Partial<Answer>[]> {
    switch (ask.about) {
      case "presence":
        return [{}];
      case "usage": {
        const { nowMs, minute, day } = await quota.usage(ask);
        return [{ usage: { nowMs, minute, day } }];
      }
      case "bans":
        return ask.of.includes(instance) ? inParts(await quota.bans()) : [];
    }
  }

  return openListener({
    url,
    channel: newsChannel,
    applicationName: listenerName,
    onMessage,
    onListening: () => authenticator.forgetAll(),
    log,
  });
}

/** A ban takes about 80 bytes. */
const bansAtOnce = 50;

function inParts(bans: readonly BanRecord[]): Partial<Answer>[] {
  const parts: Partial<Answer>[] = [];
  for (let start = 0; start === 0 || start < bans.length; start += bansAtOnce) {
    parts.push({ bans: bans.slice(start, start + bansAtOnce), more: start + bansAtOnce < bans.length });
  }
  return parts;
}
