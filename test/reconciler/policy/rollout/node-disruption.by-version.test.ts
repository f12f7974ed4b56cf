import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Targeted } from '#reconciler/policy/rollout/targets.ts';
import { nodeDisruptions } from '#reconciler/policy/rollout/node-disruption.ts';

const PAYLOADS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  old: {},
  new: { featureGates: { AllBeta: false } },
};

/** A node that runs the one and is to get the other. */
const nodeOf = (kubeletVersion: string | undefined): Targeted =>
  ({
    member: {
      kubeletNode: {
        status: { active: { sha256: 'old' }, ...(kubeletVersion === undefined ? {} : { kubeletVersion }) },
      },
      target: { sha256: 'new' },
    },
  }) as unknown as Targeted;

it('a change costs a node what its own kubelet makes of it, whichever node was looked at before', () => {
  const disruption = nodeDisruptions((sha256) => PAYLOADS[sha256 ?? ''] ?? null);
  const classes = ['v1.34.2', 'v1.36.0', undefined, 'v1.34.9', 'v1.36.2'].map(
    (version) => disruption(nodeOf(version)).class,
  );
  assert.deepEqual(classes, ['restart', 'drain', 'drain', 'restart', 'drain']);
});
