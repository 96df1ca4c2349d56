const leaks: readonly RegExp[] = [
  // Key material; a log may name a key only with its secret struck out.
  /pets_(live|test)_(?!\[redacted\])\w/,
  // Credentials in a URL.
  /\b(postgres(ql)?|rediss?):\/\/[^\s"]*:[^\s"@]*@/,
  /\b(select\s.+\sfrom|insert\s+into|update\s+"?\w+"?\s+set|delete\s+from)\b/i,
  /redis\.call|evalsha/i,
  // A stack, or a file of the program.
  /\.[cm]?[jt]s:\d+:\d+|\bnode:internal\//,
  /node_modules|\/dist\/|file:\/\//,
];

/** Whether a line of a log or a response tells what it must not. */
export function isLeak(text: string): boolean {
  return leaks.some((leak) => leak.test(text));
}
