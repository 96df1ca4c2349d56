/**
 * GraphQL documents of an attacker: small to send, and expensive to parse, validate or execute. Some exceed the limit of
 * the body, some exceed the limit of the tokens, and the worst keep every limit.
 */

export interface Hostile {
  readonly name: string;
  /** The request body. A new `mark` makes a new document, so that no cache has it. */
  write(mark: string): string;
}

const bodyLimit = 65_536;

/** The largest depths with 97 KB, with a body of the largest size, and with 1,000 tokens. */
const nestings = [12_100, 8_000, 230];

export const hostileDocuments: readonly Hostile[] = [
  ...nestings.map((depth) => ({
    name: `${depth} nested inline fragments`,
    write: document(`{pets{${"...{id ".repeat(depth)}${"}".repeat(depth)}}}`),
  })),
  {
    name: "adjacent nested inline fragments",
    write: document(`{pets{${"...{id ...{id ...{id}}}".repeat(70)}}}`),
  },
  { name: "9,000 duplicate fields", write: document(`{pets{${"id ".repeat(9_000)}}}`) },
  { name: "980 duplicate fields", write: document(`{pets{${"id ".repeat(980)}}}`) },
  { name: "249 duplicate fields with selections", write: document(`{${"pets{id}".repeat(249)}}`) },
  { name: "100 duplicate fields with selections", write: document(`{${"pets{id}".repeat(100)}}`) },
  {
    name: "40 duplicates of each of four fields",
    write: document(`{${join(4, (n) => join(40, () => `p${n}:pets{id}`))}}`),
  },
  { name: "99 duplicate connections", write: document(`{${join(99, () => "petsConnection{edges{node{id}}}")}}`) },
  { name: "80 duplicate fields with arguments", write: document(`{${join(80, () => 'pets(limit:1,cursor:""){id}')}}`) },
  {
    name: "60 fragments with equal fields",
    write: document(`{${join(60, (n) => `...f${n}`)}}${join(60, (n) => `fragment f${n} on Query{pets{id name}}`)}`),
  },
  {
    name: "a chain of 120 fragments",
    write: document(
      `{...f0}${join(120, (n) => `fragment f${n} on Query{...f${n + 1}}`)}fragment f120 on Query{__typename}`,
    ),
  },
  { name: "3,000 directives", write: document(`{pets{id ${"@include(if:true)".repeat(3_000)}}}`) },
  { name: "3,000 unknown directives", write: document(`{pets{id ${"@a ".repeat(3_000)}}}`) },
  { name: "490 unknown directives", write: document(`{pets{id ${"@a ".repeat(490)}}}`) },
  { name: "140 directives", write: document(`{pets{id ${"@include(if:true)".repeat(140)}}}`) },
  { name: "5,000 fields deep", write: document(`${"{pets".repeat(5_000)}${"}".repeat(5_000)}`) },
  { name: "330 fields deep", write: document(`${"{pets".repeat(330)}{id}${"}".repeat(330)}`) },
  {
    name: "5,000 lists deep in an argument",
    write: document(`{pets(limit:${"[".repeat(5_000)}${"]".repeat(5_000)}){id}}`),
  },
  { name: "480 lists deep in an argument", write: document(`{pets(limit:${"[".repeat(480)}${"]".repeat(480)}){id}}`) },
  {
    name: "240 objects deep in an argument",
    write: document(`mutation{createPet(input:${"{a:".repeat(240)}1${"}".repeat(240)}){id}}`),
  },
  { name: "330 aliases of __typename", write: document(`{${join(330, (n) => `a${n}:__typename`)}}`) },
  { name: "12 aliases at the root", write: document(`{${join(12, (n) => `a${n}:pets{id}`)}}`) },
  { name: "fragments that spread each other", write: document(`{pets{...f0}}${crossing(28)}`) },
  { name: "fragments that double at every level", write: document(`{pets{...f0}}${doubling(60)}`) },
  { name: "fragments that conflict with each other", write: document(conflicting(45)) },
  { name: "fragments in a circle", write: document(`{pets{...f0}}${circle(100)}`) },
  { name: "30 fragments spread by 60 operations", write: document(manyOperations(60)) },
  { name: "120 variables", write: document(variables(120)) },
  { name: "300 unknown fields", write: document(`{pets{${join(300, (n) => `unknown${n}`)}}}`) },
  { name: "300 unknown arguments", write: document(`{pets(${join(300, (n) => `unknown${n}:1`)}){id}}`) },
  { name: "a name of 60,000 letters", write: document(`{${"p".repeat(60_000)}}`) },
  { name: "60,000 commas", write: document(`{pets{id}${",".repeat(60_000)}}`) },
  { name: "a comment of 60,000 characters", write: document(`{pets{id}}#${"c".repeat(60_000)}`) },
  { name: "a string of 60,000 characters", write: document(`{pets(cursor:"${"c".repeat(60_000)}"){id}}`) },
  { name: "a block string of 30,000 lines", write: document(`{pets(cursor:"""${"\n ".repeat(15_000)}"""){id}}`) },
  {
    name: "an integer of 60,000 digits",
    write: document(`mutation{createPet(input:{name:"Rex",categoryId:${"9".repeat(60_000)}}){id}}`),
  },
  { name: "unbalanced braces", write: document("{".repeat(60_000)) },
];

/** Documents with the largest answers, in several sizes. One of them is just within the limits, even if these change. */
export const dearDocuments: readonly Hostile[] = [
  ...[45, 28, 20, 10, 4].map((aliases) => ({
    name: `10 lists of 100 pets, each pet with ${aliases} long names`,
    write: document(
      `{${join(10, (n) => `a${n}:pets(limit:100){...f}`)}}fragment f on Pet{${join(aliases, (n) => `f${n}:name`)}}`,
    ),
  })),
  ...[20, 12, 8, 4].map((aliases) => ({
    name: `10 connections of 100 pets, twice in each, with ${aliases} fields`,
    write: document(
      `{${join(10, (n) => `a${n}:petsConnection(first:100){edges{cursor node{...f}}nodes{...f}}`)}}` +
        `fragment f on Pet{${join(aliases, (n) => `f${n}:categoryId`)}}`,
    ),
  })),
  ...[11, 10].map((copies) => ({
    name: `10 connections of 100 pets, with everything in them, and the edges of one ${copies} times more`,
    write: document(
      `{${join(10, (n) => `a${n}:petsConnection(first:100){${n === 0 ? join(copies, (copy) => `e${copy}:edges{...e}`) : ""} edges{...e}nodes{...f}}`)}}` +
        "fragment e on PetEdge{cursor __typename node{...f}}fragment f on Pet{id name categoryId status __typename}",
    ),
  })),
  ...[90, 60, 40, 20, 11, 10].map((times) => ({
    name: `the fields of every type and their types, ${times} times`,
    write: document(`{${join(times, (n) => `a${n}:__schema{types{fields{type{name}}}}`)}}`),
  })),
  ...[150, 140, 90, 40, 11].map((times) => ({
    name: `the names of the fields of every type, ${times} times`,
    write: document(`{__schema{types{${join(times, (n) => `a${n}:fields{name}`)}}}}`),
  })),
  ...[30, 20, 11, 10].map((times) => ({
    name: `everything about the fields of every type, ${times} times`,
    write: document(
      `{__schema{types{${join(times, (n) => `a${n}:fields{name description args{name type{kind name ofType{name}}}type{kind name}}`)}}}}`,
    ),
  })),
  {
    name: "the fields of the fields of every type",
    write: document("{__schema{types{fields{type{fields{type{name fields{name type{name}}}}}}}}}"),
  },
];

/** Bodies with expensive variables. */
export const hostileVariables: readonly Hostile[] = [
  {
    name: "variables 30,000 lists deep",
    write: () => body("query($a:Int!){pets(limit:$a){id}}", `{"a":${"[".repeat(30_000)}${"]".repeat(30_000)}}`),
  },
  {
    name: "variables 10,000 objects deep",
    write: () => body("query($a:Int!){pets(limit:$a){id}}", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`),
  },
  {
    name: "6,000 variables nobody declared",
    write: () => body("{pets{id}}", `{${Array.from({ length: 6_000 }, (_, n) => `"v${n}":1`).join(",")}}`),
  },
  {
    name: "30,000 values in a list",
    write: () => body("mutation($i:NewPet!){createPet(input:$i){id}}", `{"i":[${"1,".repeat(30_000)}1]}`),
  },
  {
    name: "5,000 unknown properties",
    write: () =>
      body(
        "mutation($i:NewPet!){createPet(input:$i){id}}",
        `{"i":{${Array.from({ length: 5_000 }, (_, n) => `"p${n}":1`).join(",")}}}`,
      ),
  },
  {
    name: "a variable of 60,000 digits",
    write: () => body("query($a:Int!){pets(limit:$a){id}}", `{"a":${"9".repeat(60_000)}}`),
  },
  {
    name: "a variable of 60,000 zeros and an exponent",
    write: () => body("query($a:Int!){pets(limit:$a){id}}", `{"a":1${"0".repeat(60_000)}e999999999}`),
  },
  {
    name: "a batch of 1,000",
    write: () => `[${Array.from({ length: 1_000 }, () => '{"query":"{pets{id}}"}').join(",")}]`,
  },
  {
    name: "a name of 10,000 escapes",
    write: () =>
      body(
        "mutation($i:NewPet!){createPet(input:$i){id}}",
        `{"i":{"name":"${"\\u0061".repeat(10_000)}","categoryId":1}}`,
      ),
  },
  { name: "64 KiB of blanks", write: () => `${" ".repeat(bodyLimit - 30)}{"query":"{pets{id}}"}` },
];

function document(text: string): (mark: string) => string {
  return (mark) => body(`#${mark}\n${text}`, "{}");
}

function body(query: string, variables: string): string {
  return `{"query":${JSON.stringify(query)},"variables":${variables}}`;
}

function join(count: number, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(" ");
}

/** Every fragment spreads all others. */
function crossing(count: number): string {
  const spreads = (own: number) => join(count, (n) => (n === own ? "" : `...f${n}`));
  return join(Math.min(count, 16), (n) => `fragment f${n} on Pet{id ${spreads(n)}}`);
}

function doubling(count: number): string {
  return `${join(count, (n) => `fragment f${n} on Pet{id ...f${n + 1} ...f${n + 1}}`)} fragment f${count} on Pet{id}`;
}

function conflicting(count: number): string {
  const fragments = join(count, (n) => `fragment f${n} on Query{a:pets(limit:${n + 1}){id name}}`);
  return `{${join(count, (n) => `...f${n}`)}}${fragments}`;
}

function circle(count: number): string {
  return join(count, (n) => `fragment f${n} on Pet{id ...f${(n + 1) % count}}`);
}

function manyOperations(count: number): string {
  const operations = join(count, (n) => `query q${n}{pets{...f0}}`);
  return operations + join(30, (n) => `fragment f${n} on Pet{id ${n < 29 ? `...f${n + 1}` : ""}}`);
}

function variables(count: number): string {
  const declared = join(count, (n) => `$v${n}:Int!=1`);
  return `query(${declared}){${join(10, (n) => `a${n}:pets(limit:$v${n}){id}`)}}`;
}
