import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apply, type ApplyPorts } from '#reconciler/cluster/apply.ts';
import { createDrains } from '#reconciler/cluster/drains/drains.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { type Log, silentLog } from '#shared/runtime/log.ts';

const never = new AbortController().signal;
const throttled = (ms: number): KubeError =>
  new KubeError('KUBE_THROTTLED', 'slow down', { status: 429, disposition: { kind: 'wait', ms } });
const nodes = (count: number): readonly Step[] =>
  Array.from({ length: count }, (_, index) => ({ step: 'create-node', node: `n-${index}`, uid: `${index}` }));

/** @param create what becomes of the nth object */
function portsWith(create: (nth: number) => unknown) {
  const calls: string[] = [];
  const warnings: string[] = [];
  const kube = {
    create(_: unknown, object: { readonly metadata: { readonly name: string } }) {
      calls.push(object.metadata.name);
      const outcome = create(calls.length);
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(object);
    },
  } as unknown as Kube;
  const warn = (_: unknown, message: string): void => void warnings.push(message);
  const log = { ...silentLog, warn } as Log;
  const ports: ApplyPorts = {
    kube,
    namespace: 'x',
    log,
    mayWrite: () => true,
    drains: createDrains(kube),
    wrote: () => undefined,
    wrotePool: () => undefined,
    wroteMarks: () => undefined,
    answered: () => undefined,
  };
  return { ports, calls, warnings };
}

describe('writes', () => {
  it('end where the server says wait: what is under way is answered, and thousands are not tried', async () => {
    const { ports, calls, warnings } = portsWith((nth) => (nth > 100 ? throttled(30_000) : null));
    const applied = await apply(nodes(5_000), ports, never);
    assert.deepEqual(applied, { done: 100, left: 4_900, waitMs: 30_000 });
    assert.ok(calls.length <= 104, `${calls.length} calls`);
    assert.deepEqual(warnings, ['the API server asks for time: the pass ends']);
  });

  it('go on after one that is refused for what it says', async () => {
    const { ports, calls } = portsWith((nth) =>
      nth === 3 ? new KubeError('KUBE_INVALID', 'no', { status: 422 }) : null,
    );
    assert.deepEqual(await apply(nodes(20), ports, never), { done: 19, left: 1 });
    assert.equal(calls.length, 20);
  });
});
