/**
 * What an attacker gains who may choose a field's value.
 *
 * - `runs-code`: the kubelet runs or obeys a program of their choice, as root.
 * - `opens-api`: the kubelet's API answers people whom the cluster does not know, or shows them more.
 * - `host-files`: the kubelet reads, serves or removes files of the host that it has no business with.
 * - `credentials`: the node loses the certificate that it is known by.
 * - `identity`: the node passes for another one.
 * - `cuts-off`: the change cannot be taken back from outside.
 * - `weakens`: a protection that pods or people rely on is gone, and nothing else shows it.
 * - `disrupts`: pods are evicted, refused, slowed down or lost. Trials, budgets and halts are for this.
 * - `none`: nothing worth having.
 */
export type Power =
  | 'runs-code'
  | 'opens-api'
  | 'host-files'
  | 'credentials'
  | 'identity'
  | 'cuts-off'
  | 'weakens'
  | 'disrupts'
  | 'none';

/** Powers that a commit alone does not give: the fields with one are denied by default. */
export const OWNS_NODE: ReadonlySet<Power> = new Set<Power>([
  'runs-code',
  'opens-api',
  'host-files',
  'credentials',
  'identity',
  'cuts-off',
]);

/** Fields of one kind and what each of them gives. */
export interface PowerRow {
  /** Paths of the table, each with everything below it. */
  readonly fields: readonly string[];
  readonly power: Power;
  /** A clause about the person who chooses the value: "has … run". */
  readonly gives: string;
  /**
   * Of `weakens`: whether this value weakens nothing. Null is asked as well: it takes back what the node has.
   * Absent: every value weakens.
   */
  readonly isHarmless?: (value: unknown) => boolean;
}
