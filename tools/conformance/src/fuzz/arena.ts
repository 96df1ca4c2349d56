/** Where cases are played: two services, the keys of the callers, and what has been learned of them. */
import { randomBytes, randomUUID } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import type { HttpAnswer } from "../apis/http-exchange.js";
import type { Store } from "../store.js";
import type { Caller, KeyKind } from "./callers.js";
import type { Fault } from "./fault.js";
import { createJudge, type Judge } from "./judge.js";
import { type Ledger, openLedger } from "./ledger.js";
import { type OpenApi, readOpenApi } from "./openapi.js";
import { type ApiOf, openWire, type Wire, type WireRequest } from "./wire.js";

export interface Arena extends AsyncDisposable {
  readonly origins: Readonly<Record<ApiOf, string>>;
  readonly openApi: OpenApi;
  readonly ledger: Ledger;
  readonly key: string;
  /** Requests sent so far. */
  readonly sent: Readonly<Record<ApiOf, number>>;
  /** How often each API has given each answer. */
  readonly answers: ReadonlyMap<string, number>;
  authorization(caller: Caller): readonly (readonly [string, string])[];
  /** Different every time. */
  nonce(): string;
  /** Opens the record of one case. */
  begin(): Exchanges;
}

/** The requests of one case, and what was found wrong with their answers. */
export interface Exchanges {
  readonly requests: readonly WireRequest[];
  readonly faults: readonly Fault[];
  add(fault: Fault): void;
  /** Judges the answer on the way. Rejects where there is none, which has been noted as a fault. */
  send(request: WireRequest): Promise<HttpAnswer>;
}

const most = 1_000_000_000;

export async function openArena(
  origins: Readonly<Record<ApiOf, string>>,
  store: Pick<Store, "openAccount">,
  connections: number,
): Promise<Arena> {
  const roomy = await store.openAccount({ perMinute: most, perDay: most });
  const keys: Readonly<Record<KeyKind, string | undefined>> = {
    valid: await roomy.issueKey(),
    starved: await (await store.openAccount({ perMinute: 60, perDay: 1_000 })).issueKey(),
    narrow: await (await store.openAccount({ perMinute: 3, perDay: most })).issueKey(),
    none: undefined,
    malformed: "pets_test_nonsense",
    unknown: mintApiKey("test", randomBytes),
    revoked: await roomy.issueKey("revoked"),
    expired: await roomy.issueKey("expired"),
  };
  const secrets = Object.values(keys).filter((key) => key !== undefined);
  const openApi = await readOpenApi();
  const judge: Judge = createJudge({ openApi, secrets });
  const wires: Readonly<Record<ApiOf, Wire>> = {
    rest: openWire(origins.rest, connections),
    graphql: openWire(origins.graphql, connections),
  };
  const sent = { rest: 0, graphql: 0 };
  const answers = new Map<string, number>();
  return {
    origins,
    openApi,
    ledger: openLedger(),
    key: keys.valid ?? "",
    sent,
    answers,
    authorization({ key: kind, scheme, times }) {
      const key = keys[kind];
      return key === undefined ? [] : Array.from({ length: times }, () => ["authorization", scheme + key] as const);
    },
    nonce: () => randomUUID().slice(0, 13),
    begin() {
      const requests: WireRequest[] = [];
      const faults: Fault[] = [];
      return {
        requests,
        faults,
        add: (fault) => void faults.push(fault),
        async send(request) {
          requests.push(request);
          sent[request.api] += 1;
          try {
            const answer = await wires[request.api].send(request);
            const said = `${request.api} ${answer.status} ${/"code":"(\w+)"/.exec(answer.text)?.[1] ?? ""}`.trimEnd();
            answers.set(said, (answers.get(said) ?? 0) + 1);
            faults.push(...judge(request, answer));
            return answer;
          } catch (error) {
            // Counted, and the case ends here.
            faults.push({ oracle: "no answer", reason: error instanceof Error ? error.message : `${error}` });
            throw new NoAnswer();
          }
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([wires.rest[Symbol.asyncDispose](), wires.graphql[Symbol.asyncDispose]()]);
    },
  };
}

/** Has been counted already. */
export class NoAnswer extends Error {}
