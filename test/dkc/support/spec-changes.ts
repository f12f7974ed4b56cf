import type { KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import { configMapName } from '#shared/contract/config-map-hash.ts';
import {
  GOOD,
  INVALID,
  ON_LOCAL,
  sourceOf,
  type ExpectedNode,
  expectedNodeOn,
  type Stepped,
  UNREADABLE,
} from './steps.ts';

export const nameOf = (payload: string): string => configMapName('general', payload);
export const ON_GOOD = expectedNodeOn(nameOf(GOOD), 100);

/** A config that never comes to run: what is assigned is another thing than what runs, and why is said. */
export const refusing = (payload: string, before: ExpectedNode): ExpectedNode => ({
  ...before,
  assigned: nameOf(payload),
  error: 'ConfigInvalid',
});

export const SOURCE = sourceOf(nameOf(GOOD), GOOD);
const { namespace: _1, ...noNamespace } = SOURCE;
const { name: _2, ...noName } = SOURCE;
const { key: _3, ...noKey } = SOURCE;
const { uid: _4, ...noUid } = SOURCE;
const { resourceVersion: _5, ...noVersion } = SOURCE;

/** No API server of ours lets these through; what an agent makes of them all the same, where one does. */
const NO_ASSIGNMENTS: readonly unknown[] = [
  {},
  noNamespace,
  noName,
  noKey,
  noUid,
  noVersion,
  { ...SOURCE, namespace: '../baz' },
  { ...SOURCE, name: '../bar' },
  { ...SOURCE, key: '../qux' },
];

/** One thing that a KubeletNode can say, and where a node stands that has heard it. */
export interface SpecChange {
  readonly say: (on: Stepped) => void;
  readonly stands: (before: ExpectedNode) => ExpectedNode;
}

export const SPEC_CHANGES: readonly SpecChange[] = [
  { say: (on) => on.unassign(), stands: () => ON_LOCAL },
  { say: (on) => void on.assign(GOOD), stands: () => ON_GOOD },
  ...[UNREADABLE, INVALID].map((payload): SpecChange => ({
    say: (on) => void on.assign(payload),
    stands: (before) => refusing(payload, before),
  })),
  ...NO_ASSIGNMENTS.map((source): SpecChange => ({
    say: (on) => on.spec({ configSource: source } as KubeletNodeSpec),
    stands: (before) => ({ ...before, error: 'InvalidAssignment' }),
  })),
];
