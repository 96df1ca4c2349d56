const leaks: readonly RegExp[] = [
  // API keys. A log may have a key with a redacted secret.
  /pets_(live|test)_(?!\[redacted\])\w/,
  // Credentials in a URL.
  /\b(postgres(ql)?|rediss?):\/\/[^\s"]*:[^\s"@]*@/,
  /\b(select\s.+\sfrom|insert\s+into|update\s+"?\w+"?\s+set|delete\s+from)\b/i,
  /redis\.call|evalsha/i,
  // A stack trace, or a file of the program.
  /\.[cm]?[jt]s:\d+:\d+|\bnode:internal\//,
  /node_modules|\/dist\/|file:\/\//,
];

/** Returns whether a log line or a response has a secret or an internal detail. */
export function isLeak(text: string): boolean {
  return leaks.some((leak) => leak.test(text));
}
