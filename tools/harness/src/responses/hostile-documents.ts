/**
 * GraphQL documents of an attacker: small to send, and expensive to parse, validate or execute. Some exceed the limit of
 * the tokens, and the worst keep every limit.
 */

export interface Hostile {
  readonly name: string;
  /** The request body. A new `mark` makes a new document, so that no cache has it. */
  write(mark: string): string;
}

const bodyLimit = 65_536;

export const hostileDocuments: readonly Hostile[] = documents({
  "230 nested inline fragments": `{pets{${"...{id ".repeat(230)}${"}".repeat(230)}}}`,
  "adjacent nested inline fragments": `{pets{${"...{id ...{id ...{id}}}".repeat(70)}}}`,
  "980 duplicate fields": `{pets{${"id ".repeat(980)}}}`,
  "240 duplicate fields in an unused fragment": `{__typename}fragment f on Query{${"pets{id}".repeat(240)}}`,
  "40 duplicates of each of four fields": `{${join(4, (n) => join(40, () => `p${n}:pets{id}`))}}`,
  "99 duplicate connections": `{${join(99, () => "petsConnection{edges{node{id}}}")}}`,
  "80 duplicate fields with arguments": `{${join(80, () => 'pets(limit:1,cursor:""){id}')}}`,
  "60 fragments with equal fields": `{${join(60, (n) => `...f${n}`)}}${join(60, (n) => `fragment f${n} on Query{pets{id name}}`)}`,
  "a chain of 120 fragments": `{...f0}${join(120, (n) => `fragment f${n} on Query{...f${n + 1}}`)}fragment f120 on Query{__typename}`,
  "3,000 directives": `{pets{id ${"@include(if:true)".repeat(3_000)}}}`,
  "490 unknown directives": `{pets{id ${"@a ".repeat(490)}}}`,
  "140 directives": `{pets{id ${"@include(if:true)".repeat(140)}}}`,
  "5,000 fields deep": `${"{pets".repeat(5_000)}${"}".repeat(5_000)}`,
  "330 fields deep": `${"{pets".repeat(330)}{id}${"}".repeat(330)}`,
  "480 lists deep in an argument": `{pets(limit:${"[".repeat(480)}${"]".repeat(480)}){id}}`,
  "240 objects deep in an argument": `mutation{createPet(input:${"{a:".repeat(240)}1${"}".repeat(240)}){id}}`,
  "330 aliases of __typename": `{${join(330, (n) => `a${n}:__typename`)}}`,
  "12 aliases at the root": `{${join(12, (n) => `a${n}:pets{id}`)}}`,
  "fragments that spread each other": `{pets{...f0}}${crossing(28)}`,
  "fragments that double at every level": `{pets{...f0}}${doubling(60)}`,
  "fragments that conflict with each other": conflicting(45),
  "fragments in a circle": `{pets{...f0}}${join(100, (n) => `fragment f${n} on Pet{id ...f${(n + 1) % 100}}`)}`,
  "30 fragments spread by 60 operations": manyOperations(60),
  "120 variables": variables(120),
  "300 unknown fields": `{pets{${join(300, (n) => `unknown${n}`)}}}`,
  "300 unknown arguments": `{pets(${join(300, (n) => `unknown${n}:1`)}){id}}`,
  "a name of 60,000 letters": `{${"p".repeat(60_000)}}`,
  "60,000 commas": `{pets{id}${",".repeat(60_000)}}`,
  "20,000 comments": `{pets{id}}${"#\n".repeat(20_000)}`,
  "a string of 60,000 characters": `{pets(cursor:"${"c".repeat(60_000)}"){id}}`,
  "a block string of 30,000 lines": `{pets(cursor:"""${"\n ".repeat(15_000)}"""){id}}`,
  "an integer of 60,000 digits": `mutation{createPet(input:{name:"Rex",categoryId:${"9".repeat(60_000)}}){id}}`,
  "unbalanced braces": "{".repeat(60_000),
  "a block string of 31,000 empty lines": `{pets(cursor:"""${"\n".repeat(31_000)}"""){id}}`,
  "a block string of 1,990 lines": `{pets(cursor:"""${"\n x".repeat(1_990)}"""){id}}`,
  "31,000 line ends": `{pets{id}}${"\n".repeat(31_000)}`,
  "a comment of 60,000 characters": `{pets{id}}#${"#".repeat(60_000)}`,
  "15,000 escapes": `{pets(cursor:"${"\\n".repeat(15_000)}"){id}}`,
  "2,500 long escapes": `{pets(cursor:"${"\\u{1F408}".repeat(2_500)}"){id}}`,
  "7,000 escaped triple quotes": `{pets(cursor:"""${'\\"""'.repeat(7_000)}"""){id}}`,
  "a string of 16,000 emoji": `{pets(cursor:"${"🐈".repeat(16_000)}"){id}}`,
  "a string in 470 lists": `{pets(limit:${"[".repeat(470)}"${"c".repeat(30_000)}"${"]".repeat(470)}){id}}`,
  "a block string in 470 lists": `{pets(limit:${"[".repeat(470)}"""${"\n x".repeat(1_900)}"""${"]".repeat(470)}){id}}`,
  "a list of 980 values": `{pets(limit:[${"1 ".repeat(980)}]){id}}`,
  "320 unknown properties": `mutation{createPet(input:{${join(320, (n) => `a${n}:1`)}}){id}}`,
  "ten integers of 3,000 digits": `mutation{${join(10, (n) => `a${n}:createPet(input:{name:"",categoryId:${"9".repeat(3_000)}}){id}`)}}`,
  "490 spreads of unknown fragments": `{${join(490, (n) => `...f${n}`)}}`,
  "490 spreads of one fragment": `{${join(490, () => "...f")}}fragment f on Query{__typename}`,
  "240 inline fragments": `{${join(240, () => "...{__typename}")}}`,
  "500 duplicate fields": `{pets{${"id ".repeat(500)}}}`,
  "980 fields in an unused fragment": `{__typename}fragment f on Pet{${"id ".repeat(980)}}`,
  "45 fragments with all fields of a pet": `{pets{${join(45, (n) => `...f${n}`)}}}${join(45, (n) => `fragment f${n} on Pet{id name categoryId status __typename}`)}`,
  "39 fragments in a circle": `{pets{...f0}}${join(39, (n) => `fragment f${n} on Pet{id name ...f${(n + 1) % 39}}`)}`,
  "introspection through fragments that double": `{__schema{...f0}}${join(38, (n) => `fragment f${n} on __Schema{...f${n + 1} ...f${n + 1}}`)} fragment f38 on __Schema{__typename}`,
  "120 unused fragments": `{__typename}${join(120, (n) => `fragment f${n} on Query{__typename}`)}`,
  "120 subscriptions": `${join(120, (n) => `subscription s${n}{...f}`)}fragment f on Query{__typename}`,
  "25 operations with 5 variables, used 20 times": `${join(25, (n) => `query q${n}(${join(5, (k) => `$v${k}:Int`)}){...f}`)}fragment f on Query{${join(20, (k) => `a${k}:pets(limit:$v${k % 5}){id}`)}}`,
  "190 unused variables": `query(${join(190, (n) => `$v${n}:Int`)}){__typename}`,
  "undefined variables with long names": `{${join(10, (n) => `a${n}:pets(limit:$${"v".repeat(3_000)}${n}){id}`)}}`,
  "errors that repeat a long operation name": `query ${"q".repeat(30_000)}{${join(10, (n) => `a${n}:pets(limit:$v${n}){id}`)}}`,
  "unknown enum values with long names": `{${join(5, (n) => `a${n}:pets(status:${"n".repeat(6_000)}){id}`)}}`,
  "conflicts deep inside": `{${join(20, (n) => `petsConnection{edges{node{a:${n % 2 ? "id" : "name"}}}}`)}}`,
  "60 lists of 5 fields": `{${join(60, (n) => `a${n}:pets{id name categoryId status}`)}}`,
});

/** Documents with the largest answers, in several sizes. One of them is just within the limits, even if these change. */
export const dearDocuments: readonly Hostile[] = documents({
  ...inSizes([45, 28, 20, 10, 4], (aliases) => [
    `10 lists of 100 pets, each pet with ${aliases} long names`,
    `{${join(10, (n) => `a${n}:pets(limit:100){...f}`)}}fragment f on Pet{${join(aliases, (n) => `f${n}:name`)}}`,
  ]),
  ...inSizes([20, 12, 8, 4], (aliases) => [
    `10 connections of 100 pets, twice in each, with ${aliases} fields`,
    `{${join(10, (n) => `a${n}:petsConnection(first:100){edges{cursor node{...f}}nodes{...f}}`)}}` +
      `fragment f on Pet{${join(aliases, (n) => `f${n}:categoryId`)}}`,
  ]),
  ...inSizes([11, 10], (copies) => [
    `10 connections of 100 pets, with everything in them, and the edges of one ${copies} times more`,
    `{${join(10, (n) => `a${n}:petsConnection(first:100){${n === 0 ? join(copies, (copy) => `e${copy}:edges{...e}`) : ""} edges{...e}nodes{...f}}`)}}` +
      "fragment e on PetEdge{cursor __typename node{...f}}fragment f on Pet{id name categoryId status __typename}",
  ]),
  ...inSizes([90, 60, 40, 20, 11, 10], (times) => [
    `the fields of every type and their types, ${times} times`,
    `{${join(times, (n) => `a${n}:__schema{types{fields{type{name}}}}`)}}`,
  ]),
  ...inSizes([150, 140, 90, 40, 11], (times) => [
    `the names of the fields of every type, ${times} times`,
    `{__schema{types{${join(times, (n) => `a${n}:fields{name}`)}}}}`,
  ]),
  ...inSizes([30, 20, 11, 10], (times) => [
    `everything about the fields of every type, ${times} times`,
    `{__schema{types{${join(times, (n) => `a${n}:fields{name description args{name type{kind name ofType{name}}}type{kind name}}`)}}}}`,
  ]),
  ...inSizes([10, 4, 3], (aliases) => [
    `a list of 100 pets, each pet with ${aliases} names more`,
    `{pets(limit:100){id name categoryId status __typename ${join(aliases, (n) => `f${n}:name`)}}}`,
  ]),
  ...inSizes([10, 2, 1, 0], (copies) => [
    `a connection of 100 pets, with everything in it, and its edges ${copies} times more`,
    `{petsConnection(first:100){${join(copies, (copy) => `e${copy}:edges{...e}`)} edges{...e}nodes{...f}pageInfo{hasNextPage hasPreviousPage startCursor endCursor __typename}__typename}}` +
      "fragment e on PetEdge{cursor __typename node{...f}}fragment f on Pet{id name categoryId status __typename}",
  ]),
  "10 connections of 100 pets, with everything in them":
    `{${join(10, (n) => `a${n}:petsConnection(first:100){edges{cursor __typename node{...f}}nodes{...f}pageInfo{hasNextPage hasPreviousPage startCursor endCursor __typename}__typename}`)}}` +
    "fragment f on Pet{id name categoryId status __typename}",
  "the fields of the fields of every type":
    "{__schema{types{fields{type{fields{type{name fields{name type{name}}}}}}}}}",
});

const list = "query($a:Int!){pets(limit:$a){id}}";
const create = "mutation($i:NewPet!){createPet(input:$i){id}}";

/** Bodies with expensive variables. */
export const hostileVariables: readonly Hostile[] = bodies({
  "variables 30,000 lists deep": body(list, `{"a":${"[".repeat(30_000)}${"]".repeat(30_000)}}`),
  "variables 10,000 objects deep": body(list, `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`),
  "6,000 variables nobody declared": body("{pets{id}}", `{${join(6_000, (n) => `"v${n}":1`, ",")}}`),
  "30,000 values in a list": body(create, `{"i":[${"1,".repeat(30_000)}1]}`),
  "5,000 unknown properties": body(create, `{"i":{${join(5_000, (n) => `"p${n}":1`, ",")}}}`),
  "a variable of 60,000 digits": body(list, `{"a":${"9".repeat(60_000)}}`),
  "a variable of 60,000 zeros and an exponent": body(list, `{"a":1${"0".repeat(60_000)}e999999999}`),
  "a batch of 1,000": `[${join(1_000, () => '{"query":"{pets{id}}"}', ",")}]`,
  "a name of 10,000 escapes": body(create, `{"i":{"name":"${"\\u0061".repeat(10_000)}","categoryId":1}}`),
  "64 KiB of blanks": `${" ".repeat(bodyLimit - 30)}{"query":"{pets{id}}"}`,
});

function documents(textByName: Readonly<Record<string, string>>): Hostile[] {
  return Object.entries(textByName).map(([name, text]) => ({ name, write: (mark) => body(`#${mark}\n${text}`, "{}") }));
}

function bodies(bodyByName: Readonly<Record<string, string>>): Hostile[] {
  return Object.entries(bodyByName).map(([name, text]) => ({ name, write: () => text }));
}

function inSizes(
  sizes: readonly number[],
  entry: (size: number) => [name: string, text: string],
): Record<string, string> {
  return Object.fromEntries(sizes.map(entry));
}

function body(query: string, variables: string): string {
  return `{"query":${JSON.stringify(query)},"variables":${variables}}`;
}

function join(count: number, write: (index: number) => string, separator = " "): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(separator);
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

function manyOperations(count: number): string {
  const operations = join(count, (n) => `query q${n}{pets{...f0}}`);
  return operations + join(30, (n) => `fragment f${n} on Pet{id ${n < 29 ? `...f${n + 1}` : ""}}`);
}

function variables(count: number): string {
  const declared = join(count, (n) => `$v${n}:Int!=1`);
  return `query(${declared}){${join(10, (n) => `a${n}:pets(limit:$v${n}){id}`)}}`;
}
