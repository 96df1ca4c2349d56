/** The kinds of cases, each drawn from its own generator: a seed and a path name a case for ever. */
import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { buildSchema } from "graphql";
import type { Pet } from "../apis/api.js";
import { type Arena, type Exchanges, NoAnswer } from "./arena.js";
import { graphqlRequests } from "./graphql-requests.js";
import { enter, playTwin, readSent } from "./play-twin.js";
import { type Drawn, restRequests } from "./rest-requests.js";
import { twins } from "./twins.js";
import type { ApiOf } from "./wire.js";

export interface Kind {
  readonly name: "twins" | ApiOf;
  readonly apis: readonly ApiOf[];
  /** So many cases; the number of each is its path. */
  draw(seed: number, count: number): readonly (() => Promise<Exchanges>)[];
  /** Plays the case again and ever smaller ones; the smallest that still fails, or `undefined` when none does. */
  shrink(seed: number, path: string, timeoutMs: number): Promise<Shrunk | undefined>;
}

interface Shrunk {
  readonly path: string;
  readonly exchanges: Exchanges;
}

const schemaFile = new URL("../../../../services/graphql/schema.graphql", import.meta.url);

export async function openKinds(arena: Arena, cursors: readonly string[]): Promise<readonly Kind[]> {
  const schema = buildSchema(await readFile(schemaFile, "utf8"));
  const playDrawn = (drawn: Drawn) => playRequest(drawn, arena);
  return [
    kind("twins", ["rest", "graphql"], twins, (twin) => playTwin(twin, arena, cursors)),
    kind("rest", ["rest"], restRequests(arena.openApi), playDrawn),
    kind("graphql", ["graphql"], graphqlRequests(schema), playDrawn),
  ];
}

function kind<T>(
  name: Kind["name"],
  apis: readonly ApiOf[],
  cases: fc.Arbitrary<T>,
  play: (one: T) => Promise<Exchanges>,
): Kind {
  return {
    name,
    apis,
    draw: (seed, count) => fc.sample(cases, { seed, numRuns: count }).map((one) => () => play(one)),
    async shrink(seed, path, timeoutMs) {
      let smallest: Exchanges | undefined;
      const property = fc.asyncProperty(cases, async (one) => {
        const exchanges = await play(one);
        if (exchanges.faults.length > 0) smallest = exchanges;
        return exchanges.faults.length === 0;
      });
      const { counterexamplePath } = await fc.check(property, {
        seed,
        path,
        numRuns: 1,
        interruptAfterTimeLimit: timeoutMs,
      });
      return smallest && { path: counterexamplePath ?? path, exchanges: smallest };
    },
  };
}

async function playRequest({ caller, request }: Drawn, arena: Arena): Promise<Exchanges> {
  const exchanges = arena.begin();
  try {
    const answer = await exchanges.send({ ...request, headers: [...arena.authorization(caller), ...request.headers] });
    if (request.api === "rest" && answer.status === 201 && exchanges.faults.length === 0) {
      const pet = JSON.parse(answer.text.replaceAll(/"(id|categoryId)":(-?\d+)/g, '"$1":"$2"')) as Pet;
      enter(pet, readSent(`${request.body}`), arena, exchanges);
    }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
  }
  return exchanges;
}
