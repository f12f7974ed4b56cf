import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeFacts, SystemUse } from '#cli/audit/node-facts.ts';
import { systemUseOf } from '#cli/audit/read/system-use.ts';
import { auditRoom } from '#cli/audit/sections/room.ts';
import type { UseOverDays } from '#cli/audit/sections/room-classes.ts';
import { answering, checkIn, sized, withFile } from '../support/facts.ts';

const MI = 2 ** 20;
const AT = Date.parse('2026-11-29T12:00:00Z');
const reserving = (memory: string, cpu = '100m', more: Partial<NodeFacts> = {}): NodeFacts =>
  sized(answering({ kubeReserved: { memory, cpu }, evictionHard: { 'memory.available': '100Mi' } }, more));
const using = (memory: number, cpu = 0.01): { readonly use: SystemUse } => ({
  use: { at: AT, memory, cpu, parts: [] },
});
const week = (memory: number, cpu = 0.01): ReadonlyMap<string, UseOverDays> =>
  new Map([['n', { memory, cpu, days: 7, at: AT }]]);
const none: ReadonlyMap<string, UseOverDays> = new Map();

const resultOf = (id: string, facts: NodeFacts, overDays = none) =>
  checkIn(auditRoom([facts], overDays), `room/${id}`).result;

describe('the room that kubelets leave to pods', () => {
  it('needs a threshold at which pods are evicted', () => {
    const of = (threshold: string | undefined) =>
      resultOf(
        'no-eviction-threshold',
        sized(answering({ evictionHard: threshold === undefined ? {} : { 'memory.available': threshold } })),
      );
    assert.deepEqual(['100Mi', '5%', '0%', '100%', '0'].map(of), ['pass', 'pass', 'fail', 'fail', 'fail']);
    assert.equal(resultOf('no-eviction-threshold', sized(withFile({}))), 'pass', 'the default of a file');
    assert.equal(
      resultOf('no-eviction-threshold', sized(withFile({ evictionHard: { 'nodefs.available': '10%' } }))),
      'fail',
    );
  });

  it('needs memory and CPU for the host', () => {
    assert.deepEqual(
      [reserving('1Gi'), reserving('0'), reserving('1Gi', '0')].map((facts) => resultOf('nothing-reserved', facts)),
      ['pass', 'fail', 'fail'],
    );
    const cpus = sized(answering({ reservedSystemCPUs: '0', systemReserved: { memory: '1Gi' } }));
    assert.equal(resultOf('nothing-reserved', cpus), 'pass');
  });

  it('is too large where the host uses more than is kept back, by one look or by days', () => {
    const of = (mebibytes: number) =>
      resultOf('memory-under-reserved', reserving('1Gi', '100m', using(mebibytes * MI)));
    assert.deepEqual([of(1024), of(1025)], ['pass', 'fail']);
    assert.equal(resultOf('cpu-under-reserved', reserving('1Gi', '100m', using(0, 0.101))), 'fail');
    assert.equal(resultOf('memory-under-reserved', reserving('1Gi'), week(1025 * MI)), 'fail');
    assert.equal(resultOf('memory-under-reserved', reserving('1Gi')), 'not-visible');
  });

  it('is not judged by more use than the machine has room for', () => {
    assert.equal(resultOf('memory-under-reserved', reserving('1Gi', '100m', using(17 * 1024 * MI))), 'not-visible');
    assert.equal(resultOf('cpu-under-reserved', reserving('1Gi'), week(MI, 4.1)), 'not-visible');
    assert.equal(resultOf('cpu-under-reserved', reserving('1Gi'), week(MI, 4)), 'fail');
  });

  it('is too small only by days, and beyond a fifth more than is used', () => {
    const of = (reserved: string, p99: number) => resultOf('memory-over-reserved', reserving(reserved), week(p99 * MI));
    assert.deepEqual([of('1456Mi', 1000), of('1455Mi', 1000)], ['fail', 'pass']);
    assert.equal(resultOf('memory-over-reserved', reserving('8Gi', '100m', using(10 * MI))), 'not-visible');
    const check = checkIn(auditRoom([reserving('2Gi')], week(500 * MI)), 'room/memory-over-reserved');
    assert.deepEqual(check.groups[0]?.evidence.at(-1), { field: 'memory.freed', value: '1448Mi' });
  });

  it('says of each class what it has, where the number is from, and what profiles would keep back', () => {
    const nodes = ['a', 'b', 'c'].map((name, index) =>
      sized({ ...reserving('2662Mi', '80m', using((index + 1) * 100 * MI)), name }),
    );
    const [only, ...others] = auditRoom(nodes, none).classes ?? [];
    assert.deepEqual([only?.count, only?.profile, others], [3, 'gke', []]);
    const memory = only?.resources.find(({ resource }) => resource === 'memory');
    assert.deepEqual(memory?.used, {
      median: 200 * MI,
      most: 300 * MI,
      nodes: 3,
      at: '2026-11-29T12:00:00Z',
      kind: 'moment',
    });
    assert.deepEqual(
      memory?.profiles.find(({ name }) => name === 'gke'),
      { name: 'gke', amount: 2662 * MI },
    );
  });

  it('is not known without Nodes', () => {
    const section = auditRoom([answering({})], none);
    assert.equal(section.result, 'not-visible');
    assert.deepEqual(section.classes, []);
  });
});

describe('what a kubelet says that its host uses', () => {
  const summary = (containers: readonly object[]) => ({
    node: {
      cpu: { usageNanoCores: 900_000_000 },
      memory: { time: '2026-11-29T12:00:00Z', workingSetBytes: 3000 * MI },
      systemContainers: containers,
    },
  });
  const pods = { name: 'pods', cpu: { usageNanoCores: 500_000_000 }, memory: { workingSetBytes: 2000 * MI } };
  const kubelet = { name: 'kubelet', cpu: { usageNanoCores: 50_000_000 }, memory: { workingSetBytes: 90 * MI } };

  it('is the whole without its pods, with the parts that it tells apart', () => {
    assert.deepEqual(systemUseOf(summary([pods, kubelet])), {
      at: AT,
      cpu: 0.4,
      memory: 1000 * MI,
      parts: [{ name: 'kubelet', cpu: 0.05, memory: 90 * MI }],
    });
  });

  it('is not known where it says nothing of pods, or no time', () => {
    assert.equal(systemUseOf(summary([kubelet])), undefined);
    for (const other of [null, [], {}, { node: { systemContainers: [pods] } }])
      assert.equal(systemUseOf(other), undefined);
  });
});
