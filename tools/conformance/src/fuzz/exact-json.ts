import { parse } from "lossless-json";

/** JSON text with every whole number as bigint, however it is written (`1.0`, `1e3`), and others as number. */
export function readExactJson(text: string): unknown {
  return parse(text, undefined, { parseNumber: readNumber });
}

/** Beyond this many digits nothing that is sent is an int64, but 0. */
const mostShifted = 1_000;

function readNumber(text: string): bigint | number {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n);
  const shift = Number(exponent) - fraction.length;
  if (digits === 0n) return 0n;
  if (Math.abs(shift) > mostShifted) return Number(text);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return digits % divisor === 0n ? digits / divisor : Number(text);
}
