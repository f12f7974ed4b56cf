import type { RiskNote } from './risk-notes.ts';

/**
 * What a field takes, as the kubelet's Go types read it.
 *
 * `duration` is Go's (`1h30m`), always text; `duration-or-nanoseconds` also takes a bare number from 1.28 on and only
 * that before; `quantity` is Kubernetes' (`1.5Gi`), text or number; `time` is RFC 3339.
 */
export type FieldKind =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'float'
  | 'duration'
  | 'duration-or-nanoseconds'
  | 'quantity'
  | 'time'
  | 'struct'
  | 'struct-list'
  | 'string-list'
  | 'int32-list'
  | 'string-map'
  | 'bool-map'
  | 'quantity-map'
  | 'string-list-map';

/**
 * What changing the field on a live node costs, beyond the kubelet's restart that every change needs:
 *
 * - `restart`: nothing more; running pods go on.
 * - `state-file:cpu`, `state-file:memory`: the manager refuses to start over the checkpoint of its former policy, so that
 *   file has to go in the same step.
 * - `drain`: pods that run already keep the old meaning or break with the new one.
 * - `reboot`: cgroups or processes of the old layout stay until the machine starts again.
 * - `never`: belongs to the node's identity or to standalone kubelets; not for a fleet's configuration.
 */
export type ChangeCost = 'restart' | 'state-file:cpu' | 'state-file:memory' | 'drain' | 'reboot' | 'never';

/** One value for every minor version before the key; the smallest matching key wins. */
export type ByMinor<T> = Readonly<Record<number, T>>;

/** What is known about one field. Versions are minor numbers: 34 is Kubernetes 1.34. */
export interface Field {
  readonly kind: FieldKind;
  /** First minor that has it; absent where 1.20 has it already. */
  readonly since?: number;
  /** Last minor that has it; absent where the newest has it still. */
  readonly until?: number;
  /** A pointer in Go: zero, false and the empty text are values. In all other fields they mean "unset". */
  readonly pointer?: true;
  /** First minor in which it is a pointer; absent if it is one in 1.20 already. */
  readonly pointerSince?: number;
  /** What the kubelet works with where the field is unset. Absent: zero, or what the node has. */
  readonly default?: unknown;
  readonly defaultBefore?: ByMinor<unknown>;
  /** Bounds of numbers, both included; absent where the type's own are the only ones. */
  readonly min?: number;
  readonly max?: number;
  /** The values that a kubelet starts with. */
  readonly values?: readonly string[];
  readonly valuesBefore?: ByMinor<readonly string[]>;
  /** Values that make sense; the kubelet takes any and fails later, or only on some nodes. */
  readonly usualValues?: readonly string[];
  /** The feature gate that must be on for the field's default and values to count. */
  readonly gate?: string;
  /** The feature gate that must be on, or gone, for the field's values to count; its default counts either way. */
  readonly valuesGate?: string;
  /** From this minor on the kubelet reads it and does nothing with it. */
  readonly ignoredFrom?: number;
  /** Up to this minor the kubelet reads it, and works with its flag or the default all the same. */
  readonly ignoredUntil?: number;
  /** Default `restart`. */
  readonly cost?: ChangeCost;
  /** Of a list: where a change takes something out of it; `cost` where it only adds. */
  readonly costWithout?: ChangeCost;
  readonly note?: RiskNote;
}

/** By path from the root: names joined with dots, `[]` after a list (`reservedMemory[].limits`). */
export type Fields = Readonly<Record<string, Field>>;

/** The table's value for a minor: `before` holds what was true earlier. */
export function atMinor<T>(now: T, before: ByMinor<T> | undefined, minor: number): T {
  const bounds = Object.keys(before ?? {}).map(Number);
  const bound = Math.min(...bounds.filter((first) => minor < first));
  return before === undefined || bound === Infinity ? now : (before[bound] ?? now);
}
