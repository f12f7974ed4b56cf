import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apply } from '#reconciler/cluster/apply.ts';
import { createIneffectiveWrites } from '#reconciler/cluster/write-cache/ineffective-writes.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import type { KubeletNode, KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { type Log, silentLog } from '#shared/runtime/log.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { applyPorts } from '../support/apply-ports.ts';

const never = new AbortController().signal;
const MINUTES = 60_000;

type Json = Readonly<Record<string, unknown>>;

function merged(before: unknown, patch: Json): Json {
  const after: Record<string, unknown> = { ...(before as Json | undefined) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete after[key];
    else after[key] = typeof value === 'object' && !Array.isArray(value) ? merged(after[key], value as Json) : value;
  }
  return after;
}

/** An API server that makes something of its own of what it is sent. */
function serverThat(keeps: (object: Json) => Json) {
  const clock = createManualClock();
  const objects = new Map<string, Json>();
  const writes: string[] = [];
  const warnings: string[] = [];
  let made = keeps;
  const kube = {
    mergePatch(_: unknown, name: string, patch: Json) {
      writes.push(name);
      const { metadata: __, ...rest } = patch;
      const object = made(merged(objects.get(name), rest));
      objects.set(name, object);
      return Promise.resolve(object);
    },
    list: (selection: { readonly fieldSelector?: string }) =>
      Promise.resolve({ resourceVersion: '1', items: [objects.get(selection.fieldSelector?.split('=')[1] ?? '')] }),
  } as unknown as Kube;
  const warn = ({ field }: { readonly field: string }, message: string): void =>
    void warnings.push(`${field}: ${message}`);
  const log = { ...silentLog, warn } as Log;
  const futile = createIneffectiveWrites(clock, log);
  const ports = applyPorts(kube, { log, answered: futile.answered }, clock);
  return {
    clock,
    futile,
    writes,
    warnings,
    put: (name: string, object: Json) => objects.set(name, { ...object, metadata: { name, uid: `uid of ${name}` } }),
    get: (name: string): unknown => objects.get(name),
    keeps: (now: (object: Json) => Json) => (made = now),
    pass: (steps: readonly Step[]) => apply(futile.due(steps), ports, never),
  };
}

const everything = (object: Json): Json => object;
const withoutTurn = (object: Json): Json => {
  const { turn: _, ...spec } = (object['spec'] ?? {}) as KubeletNodeSpec;
  return { ...object, spec };
};

const NAMES = Array.from({ length: 5_000 }, (_, index) => `n-${index}`);

describe('a write whose answer does not have what was sent', () => {
  const told = (server: ReturnType<typeof serverThat>, spec: KubeletNodeSpec, names = NAMES): readonly Step[] =>
    names.map((name) => ({ step: 'amend', node: server.get(name) as KubeletNode, spec, because: 'x' }));

  it('is made once for each of 5,000 nodes in 20 passes, and told once', async () => {
    const server = serverThat(withoutTurn);
    for (const name of NAMES) server.put(name, {});
    for (let pass = 0; pass < 20; pass += 1) {
      // Another value would be dropped as well.
      await server.pass(told(server, { pool: 'a', turn: { seen: String(pass) } }));
      await server.clock.advance(15_000);
    }
    assert.equal(server.writes.length, NAMES.length);
    assert.deepEqual(server.warnings, [
      'spec.turn: the API server drops a field that is sent: apply the CRDs of this release',
    ]);
    assert.deepEqual(server.futile.lost(), [{ resource: 'kubeletnodes', field: 'spec.turn' }]);
  });

  it('is made where anything else is to be said, or somebody else wrote the object', async () => {
    const server = serverThat(withoutTurn);
    server.put('n', {});
    const say = (spec: KubeletNodeSpec) => server.pass(told(server, spec, ['n']));
    await say({ pool: 'a', turn: { seen: '1' } });
    await say({ pool: 'b', turn: { seen: '1' } });
    assert.equal(server.writes.length, 2);
    server.put('n', { spec: { pool: 'another' } });
    await say({ pool: 'b', turn: { seen: '1' } });
    assert.equal(server.writes.length, 3);
    await say({ pool: 'b', turn: { seen: '1' } });
    assert.equal(server.writes.length, 3);
  });

  it('is tried again with one object every ten minutes, and with all of them once that helps', async () => {
    const server = serverThat(withoutTurn);
    const names = ['a', 'b', 'c'];
    for (const name of names) server.put(name, {});
    const spec = { pool: 'p', turn: { seen: '1' } };
    await server.pass(told(server, spec, names));
    await server.clock.advance(10 * MINUTES - 1);
    await server.pass(told(server, spec, names));
    assert.equal(server.writes.length, 3);
    await server.clock.advance(1);
    for (let pass = 0; pass < 5; pass += 1) await server.pass(told(server, spec, names));
    assert.deepEqual(server.writes.slice(3), ['a']);
    server.keeps(everything);
    await server.clock.advance(10 * MINUTES);
    for (let pass = 0; pass < 5; pass += 1) await server.pass(told(server, spec, names));
    for (const name of names) assert.deepEqual((server.get(name) as KubeletNode).spec, spec);
    assert.deepEqual(server.futile.lost(), []);
  });

  it('is not made again either where a webhook changes it: until something else is wanted', async () => {
    const server = serverThat((object) => ({ ...object, spec: { ...(object['spec'] as Json), pool: 'forced' } }));
    server.put('n', {});
    for (let pass = 0; pass < 20; pass += 1) await server.pass(told(server, { pool: 'a' }, ['n']));
    assert.equal(server.writes.length, 1);
    await server.pass(told(server, { pool: 'b' }, ['n']));
    assert.equal(server.writes.length, 2);
    assert.match(server.warnings.join(), /^spec\.pool: .* otherwise than it is sent: look for a webhook/);
  });

  it('of a status is the same write with another hour', async () => {
    const server = serverThat((object) => {
      const { phase: _, ...status } = object['status'] as Json;
      return { ...object, status };
    });
    server.put('p', {});
    for (let pass = 0; pass < 20; pass += 1) {
      const at = new Date(server.clock.now()).toISOString();
      const halt = { config: 'c', sha256: 's', at, message: 'm', action: 'halt' } as const;
      const pool = server.get('p') as KubeletPool;
      await server.pass([{ step: 'write-pool-status', pool, status: { phase: 'Halted', halt } }]);
      await server.clock.advance(15_000);
    }
    assert.equal(server.writes.length, 1);
  });

  it('of a Node is made again after ten minutes', async () => {
    const tainted = { taints: [{ key: 'kubelet-gitops.dev/not-configured' }] };
    const server = serverThat((object) => ({ ...object, spec: tainted }));
    server.put('n', { spec: tainted });
    const steps: readonly Step[] = [{ step: 'untaint', node: 'n', uid: 'uid of n', because: 'x' }];
    for (let pass = 0; pass < 20; pass += 1) await server.pass(steps);
    assert.equal(server.writes.length, 1);
    await server.clock.advance(10 * MINUTES);
    for (let pass = 0; pass < 20; pass += 1) await server.pass(steps);
    assert.equal(server.writes.length, 2);
  });
});

describe('what is known of futile writes', () => {
  const bare = { spec: {} };
  const told = (name: string, spec: Json): Step => ({
    step: 'amend',
    node: { metadata: { name, uid: `uid of ${name}` }, ...bare },
    spec,
    because: 'a test',
  });

  it('is kept for twenty-five thousand objects: the one that was tried longest ago is tried again', () => {
    const futile = createIneffectiveWrites(createManualClock(), silentLog);
    const steps = Array.from({ length: 25_001 }, (_, n) => told(`n-${n}`, { field: 'new' }));
    for (const step of steps) futile.answered(step, bare as unknown as KubeletNode);
    assert.deepEqual(futile.due(steps), [steps[0]]);
  });

  it('names fifty fields, and no more', () => {
    const { futile, warnings } = serverThat((object) => object);
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`field${n}`, 'new']));
    futile.answered(told('n', fields), bare as unknown as KubeletNode);
    assert.deepEqual([futile.lost().length, warnings.length], [50, 50]);
    assert.equal(futile.due([told('n', fields)]).length, 0);
  });
});
