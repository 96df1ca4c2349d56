/** The sections of the operations guide that findings lead to, by their anchors. A test checks that they exist. */
export const guideSections = [
  "a-certificate-ends-soon",
  "logs-and-traces",
  "redis-is-unavailable",
  "the-balancer",
  "tls-at-the-balancer",
  "what-a-proxy-must-pass-on",
] as const;

export type GuideSection = (typeof guideSections)[number];

/** For messages: the section as a path in the repository. */
export function guideLink(section: GuideSection): string {
  return `tools/deploy/operations.md#${section}`;
}
