import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apply } from '#reconciler/cluster/apply.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { type Log, silentLog } from '#shared/runtime/log.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { applyPorts } from './support/apply-ports.ts';

const never = new AbortController().signal;
const throttled = (ms: number): KubeError =>
  new KubeError('KUBE_THROTTLED', 'slow down', { status: 429, disposition: { kind: 'wait', ms } });
const nodes = (count: number): readonly Step[] =>
  Array.from({ length: count }, (_, index) => ({ step: 'create-node', node: `n-${index}`, uid: `${index}`, at: 0 }));

/** @param create what becomes of the nth object, or of one with this name */
function portsWith(create: (nth: number, name: string) => unknown) {
  const clock = createManualClock();
  const calls: string[] = [];
  const warnings: string[] = [];
  const kube = {
    create(_: unknown, object: { readonly metadata: { readonly name: string } }) {
      calls.push(object.metadata.name);
      const outcome = create(calls.length, object.metadata.name);
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome).then(() => object);
    },
  } as unknown as Kube;
  const warn = (_: unknown, message: string): void => void warnings.push(message);
  const log = { ...silentLog, warn } as Log;
  const ports = applyPorts(kube, { log }, clock);
  return { clock, ports, calls, warnings };
}

describe('writes', () => {
  it('end where the server says wait: what is under way is answered, and thousands are not tried', async () => {
    const { ports, calls, warnings } = portsWith((nth) => (nth > 100 ? throttled(30_000) : null));
    const applied = await apply(nodes(5_000), ports, never);
    assert.deepEqual(applied, { done: 100, left: 4_900, waitMs: 30_000 });
    assert.ok(calls.length <= 108, `${calls.length} calls`);
    assert.deepEqual(warnings, ['the API server asks for time: the pass ends']);
  });

  it('go on, eight at a time, while one is not answered', async () => {
    const slow = Promise.withResolvers<null>();
    let [underWay, most] = [0, 0];
    const { ports, calls } = portsWith(async (_, name) => {
      most = Math.max(most, (underWay += 1));
      await (name === 'n-3' ? slow.promise : Promise.resolve());
      underWay -= 1;
    });
    const applied = apply(nodes(100), ports, never);
    for (let turn = 0; turn < 1_000; turn += 1) await Promise.resolve();
    assert.equal(calls.length, 100);
    assert.equal(underWay, 1);
    assert.equal(most, 8);
    slow.resolve(null);
    assert.deepEqual(await applied, { done: 100, left: 0 });
  });

  const refusals: readonly (readonly [string, Error])[] = [
    ['refused by a policy (422)', new KubeError('KUBE_INVALID', 'no', { status: 422 })],
    ['refused by a webhook (403)', new KubeError('KUBE_FORBIDDEN', 'no', { status: 403 })],
    ['too large (413)', new KubeError('KUBE_INVALID', 'no', { status: 413 })],
    ['an exception of ours', new RangeError('Invalid time value')],
  ];
  for (const [what, error] of refusals) {
    it(`of one object that is ${what} hold nobody else, and are made again later and later`, async () => {
      const { clock, ports, calls } = portsWith((_, name) => (name === 'n-3' ? error : null));
      const tries: number[] = [];
      for (let pass = 0; pass < 600; pass += 1) {
        const before = calls.filter((name) => name === 'n-3').length;
        const applied = await apply(nodes(20), ports, never);
        assert.deepEqual(applied, { done: 19, left: 1 });
        if (calls.filter((name) => name === 'n-3').length > before) tries.push(clock.monotonic() / 1000);
        clock.skip(250);
      }
      assert.deepEqual(tries, [0, 5, 15, 35, 75, 135]);
    });
  }

  it('are made again at once where the world had moved on, or another config is to be said', async () => {
    const moved = new KubeError('KUBE_CONFLICT', 'no', { status: 409 });
    const { ports, calls } = portsWith(() => moved);
    for (let pass = 0; pass < 3; pass += 1) await apply(nodes(1), ports, never);
    assert.equal(calls.length, 3);
    const invalid = portsWith(() => new KubeError('KUBE_INVALID', 'no', { status: 422 }));
    const source = (name: string): Step => ({
      step: 'create-config-source',
      pool: 'a',
      config: { name, sha256: name, payload: '{}' },
      commit: 'c',
    });
    for (const name of ['a-1', 'a-1', 'a-2']) await apply([source(name)], invalid.ports, never);
    assert.deepEqual(invalid.calls, ['a-1', 'a-2']);
  });
});
