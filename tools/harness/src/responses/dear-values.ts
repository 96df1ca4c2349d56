/** JSON values of an attacker: about 64 KiB long, and expensive to parse or to validate. Most exceed a limit, the dearest do not. */

const bytes = 64_500;
/** Below the limit of values, with room for the values around it. */
const values = 980;

export const dearValues: Readonly<Record<string, string>> = {
  "32,000 nested arrays": list(Math.floor(bytes / 197), () => "[".repeat(98) + "]".repeat(98)),
  "882 nested arrays and a long string": list(10, (n) =>
    n < 9 ? "[".repeat(98) + "]".repeat(98) : string(62_500, "x"),
  ),
  "6,000 unknown names": object(6_000, (n) => `p${n}`),
  "980 long unknown names": object(values, (n) => `p${"x".repeat(bytes / values - 12)}${n}`),
  "16,000 times 1e9": list(bytes / 4, () => "1e9"),
  "980 long integers": list(values, () => "9".repeat(bytes / values - 2)),
  "980 long fractions": list(values, () => `1.${"5".repeat(bytes / values - 8)}e-9`),
  "980 strings of escapes": list(values, () => string(bytes / values - 4, "\\u0061")),
  "an integer of 64,000 digits": "9".repeat(64_000),
  "a string of escapes": string(bytes, "\\n"),
  "a long string": string(bytes, "x"),
  "64,000 blanks": `${" ".repeat(64_000)}1`,
};

function list(length: number, write: (index: number) => string): string {
  return `[${Array.from({ length: Math.floor(length) }, (_, index) => write(index))}]`;
}

function object(length: number, nameOf: (index: number) => string): string {
  return `{${Array.from({ length }, (_, index) => `"${nameOf(index)}":1`)}}`;
}

function string(length: number, unit: string): string {
  return `"${unit.repeat(length / unit.length)}"`;
}
