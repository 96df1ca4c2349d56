/** One promise, checked. */
export interface Check {
  readonly name: string;
  /** What is not as promised, a sentence each; none when the promise holds. */
  readonly differences: readonly string[];
  /** Why something differs on purpose. */
  readonly byDesign?: readonly string[];
  /** What was measured. */
  readonly figure?: string;
  /** The same, of less interest: for the JSON report alone. */
  readonly detail?: string;
}
