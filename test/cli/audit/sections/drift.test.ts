import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeFacts } from '#cli/audit/node-facts.ts';
import { auditDrift } from '#cli/audit/sections/drift.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { answering, checkIn, nodesOf, sized, withFile } from '../support/facts.ts';

const POOL = `apiVersion: kubelet-gitops.dev/v1alpha1
kind: KubeletPool
spec:
  nodeSelector: {matchLabels: {pool: general}}
  layers: [./kubelet.yaml]
`;
const CONFIG = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: 120
syncFrequency: 1m
evictionHard:
  memory.available: 200Mi
`;

function repo(files: Readonly<Record<string, string>>): LoadedRepo {
  const read = Object.entries(files).map(
    ([path, text]) => [path, { path, oid: path, bytes: Buffer.from(text) }] as const,
  );
  return loadRepo(new Map(read), { cluster: 'default', gitFindings: [] });
}

const general = (running: NodeFacts['running'], more: Partial<NodeFacts> = {}): NodeFacts =>
  sized(answering(running, { labels: { pool: 'general' }, ...more }));

const WANTED = { maxPods: 120, syncFrequency: '1m0s', evictionHard: { 'memory.available': '200Mi' } };
const REPO = repo({ 'pools/general/pool.yaml': POOL, 'pools/general/kubelet.yaml': CONFIG });

describe('drift', () => {
  it('is each field that a node has otherwise than its pool, with the line that says it', () => {
    const section = auditDrift(
      [
        general(WANTED, { name: 'a' }),
        general({ ...WANTED, maxPods: 110 }, { name: 'b' }),
        general({ ...WANTED, maxPods: 110, evictionHard: { 'memory.available': '100Mi' } }, { name: 'c' }),
      ],
      REPO,
    );
    const maxPods = checkIn(section, 'drift/maxPods');
    assert.deepEqual(nodesOf(maxPods, 'fail'), ['b', 'c']);
    assert.deepEqual(maxPods.groups[0]?.evidence, [
      { field: 'maxPods', value: '110' },
      { field: 'maxPods', value: '120', by: 'repository', place: 'pools/general/kubelet.yaml:3' },
    ]);
    const eviction = checkIn(section, 'drift/evictionHard["memory.available"]');
    assert.deepEqual(nodesOf(eviction, 'fail'), ['c']);
    assert.equal(eviction.groups[0]?.evidence[1]?.place, 'pools/general/kubelet.yaml:6');
    assert.match(section.summary, /^2 of 3 nodes run something else/);
  });

  it('is none where a file leaves out what the default says', () => {
    const file = (running: NodeFacts['running']) => ({ ...withFile(running, { labels: { pool: 'general' } }) });
    const { syncFrequency: _, ...rest } = WANTED;
    assert.equal(auditDrift([file(rest)], REPO).result, 'pass');
    assert.equal(auditDrift([file({ ...rest, syncFrequency: '2m' })], REPO).result, 'fail');
  });

  it('is not known of nodes that no pool has, or several, or whose pool has errors', () => {
    const stray = auditDrift([answering({}, { labels: {} })], REPO);
    assert.deepEqual(
      [stray.result, checkIn(stray, 'drift/not-compared').because],
      ['info', 'no pool selects these nodes'],
    );
    const twice = repo({
      'pools/general/pool.yaml': POOL,
      'pools/general/kubelet.yaml': CONFIG,
      'pools/other/pool.yaml': POOL,
      'pools/other/kubelet.yaml': CONFIG,
    });
    assert.equal(auditDrift([general(WANTED)], twice).result, 'not-visible');
    const broken = repo({ 'pools/general/pool.yaml': POOL, 'pools/general/kubelet.yaml': `${CONFIG}maxPods: 7\n` });
    const section = auditDrift([general(WANTED)], broken);
    assert.notEqual(section.result, 'pass');
    assert.match(section.summary, /pools with errors: general/);
  });
});
