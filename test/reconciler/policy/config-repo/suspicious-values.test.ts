import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';

const POOL = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nspec:\n  nodeSelector: {}\n';
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** Findings as `severity code file:line field: message (suggestion)`. */
function said(layer: string, inPool = ''): readonly string[] {
  const tree = {
    'clusters/prod.yaml': 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {}\n',
    'pools/x/pool.yaml': `${POOL}${inPool}`,
    'pools/x/kubelet.yaml': `${HEAD}${layer}`,
  };
  const files = Object.entries(tree).map(
    ([path, text]) => [path, { path, oid: path + text, bytes: Buffer.from(text) }] as const,
  );
  const [pool] = loadRepo(new Map(files), { cluster: 'prod' }).pools;
  return (pool?.findings ?? [])
    .filter(({ code }) => code === 'fractional-bytes' || code === 'doubtful-value')
    .map(
      ({ severity, file, line, field, message, suggestion }) =>
        `${severity} ${file}:${line} ${field}: ${message}${suggestion === undefined ? '' : ` (${suggestion})`}`,
    );
}

const AT = 'pools/x/kubelet.yaml:3';
const half = (amount: string, field: string, meant: string): string =>
  `error ${AT} ${field}: ${amount} is not a whole number of bytes: m means thousandths (did you mean ${meant}?)`;
const few = (amount: string, field: string, size: string, meant: string): string =>
  `warning ${AT} ${field}: ${amount} is ${size} (did you mean ${meant}?)`;

type Row = readonly [layer: string, found: readonly string[]];
const rows: readonly Row[] = [
  ['systemReserved: {memory: 512m}', [half('512m', 'systemReserved.memory', '512Mi')]],
  ['kubeReserved: {memory: "512"}', [few('512', 'kubeReserved.memory', '512 bytes', '512Mi')]],
  ['kubeReserved: {memory: "1"}', [few('1', 'kubeReserved.memory', '1 byte', '1Mi')]],
  ['kubeReserved: {ephemeral-storage: 1500m}', [half('1500m', 'kubeReserved.ephemeral-storage', '1500Mi')]],
  ['evictionHard: {memory.available: 500m}', [half('500m', 'evictionHard["memory.available"]', '500Mi')]],
  ['evictionHard: {nodefs.available: "5"}', [few('5', 'evictionHard["nodefs.available"]', '5 bytes', '5Mi')]],
  ['evictionSoft: {memory.available: "5"}', [few('5', 'evictionSoft["memory.available"]', '5 bytes', '5Mi')]],
  ...['allocatableMemory', 'containerfs'].map((of): Row => [
    `evictionHard: {${of}.available: "5"}`,
    [few('5', `evictionHard["${of}.available"]`, '5 bytes', '5Mi')],
  ]),
  [
    'evictionMinimumReclaim: {imagefs.available: 2u}',
    [half('2u', 'evictionMinimumReclaim["imagefs.available"]', '2Mi')],
  ],
  [
    'reservedMemory: [{numaNode: 0, limits: {hugepages-2Mi: 100m}}]',
    [half('100m', 'reservedMemory[0].limits.hugepages-2Mi', '100Mi')],
  ],
  [
    'kubeReserved: {memory: 1048575}'.replace('1048575', '"1048575"'),
    [few('1048575', 'kubeReserved.memory', '1048575 bytes', '1048575Mi')],
  ],
  ['evictionHard: {memory.available: " 500m "}', [half(' 500m ', 'evictionHard["memory.available"]', '500Mi')]],
  [
    'kubeReserved: {memory: "1.5"}',
    [`error ${AT} kubeReserved.memory: 1.5 is not a whole number of bytes: m means thousandths`],
  ],
  ['kubeReserved: {memory: 512}', []],
  ['reservedMemory: [{numaNode: 0, limits: {cpu: 500m}}]', []],
  ['kubeReserved: {memory: 1Mi}', []],
  ['kubeReserved: {memory: "0", cpu: 500m, pid: "5"}', []],
  ['evictionHard: {nodefs.inodesFree: "5", pid.available: 5%}', []],
  ['evictionHard: {memory.available: 50%}', []],
  ['evictionHard: {memory.available: 100%}', []],
  [
    'evictionHard: {memory.available: 51%}',
    [`warning ${AT} evictionHard["memory.available"]: pods are evicted as soon as less than 51% of memory is free`],
  ],
  [
    'evictionSoft: {memory.available: 51%}',
    [`warning ${AT} evictionSoft["memory.available"]: pods are evicted as soon as less than 51% of memory is free`],
  ],
  [
    'maxPods: 0',
    [`warning ${AT} maxPods: 0 means the default to the kubelet, 110 (write how many pods may run, 1 at least)`],
  ],
  ['maxPods: 1', []],
  ['maxOpenFiles: 1000', []],
  ['maxOpenFiles: 0', []],
  ['maxOpenFiles: "5"', []],
  [
    'maxOpenFiles: 999',
    [
      `warning ${AT} maxOpenFiles: 999 open files are too few for a kubelet with pods: it fails once they are used up (leave it out: the default is 1000000)`,
    ],
  ],
  ['featureGates: {AllAlpha: false, AllBeta: true}', []],
  [
    'featureGates: {AllAlpha: true}',
    [
      `warning ${AT} featureGates.AllAlpha: AllAlpha turns on every feature that is in alpha, and others with each minor version (name the gates that you need)`,
    ],
  ],
];

describe('a value that kubelets take and nobody means', () => {
  for (const [layer, found] of rows) {
    it(`is ${found.length === 0 ? 'not' : 'found'}: ${layer}`, () => assert.deepEqual(said(`${layer}\n`), found));
  }

  it('is a rollout of everybody at once that nobody tries before', () => {
    const rollout = (text: string): readonly string[] => said('maxPods: 5\n', `  rollout: {${text}}\n`);
    assert.match(
      rollout('maxUnavailable: 100%, probation: full')[0] ?? '',
      /^warning pools\/x\/pool\.yaml:5 .*every node of the pool changes at once/,
    );
    assert.match(
      rollout('maxUnavailable: 100%')[0] ?? '',
      /^warning pools\/x\/pool\.yaml:5 .*as many nodes change at once as have proven the config/,
    );
    assert.deepEqual(rollout('maxUnavailable: 99%'), []);
    assert.deepEqual(rollout('maxUnavailable: 100%, canary: {nodes: 1}'), []);
    assert.deepEqual(rollout('maxUnavailable: 100%, steps: [{nodes: 1}]'), []);
    assert.deepEqual(rollout('maxUnavailable: 100%, maxOnTrial: 5'), [], 'that many do');
    assert.equal(rollout('maxUnavailable: 100%, maxOnTrial: 100%').length, 1);
    assert.equal(rollout('maxUnavailable: 100%, maxOnTrial: 5, probation: full').length, 2);
  });

  it('is a trial after the canaries that is as long as theirs', () => {
    const pool = (text: string): readonly string[] => said('maxPods: 5\n', text);
    assert.match(
      pool('  rollout: {probation: full}\n  trial: {durationAfterCanary: 2m}\n')[0] ?? '',
      /^warning pools\/x\/pool\.yaml:6 .*durationAfterCanary shortens nothing with probation: full/,
    );
    assert.match(
      pool('  trial: {durationAfterCanary: 601s}\n')[0] ?? '',
      /^warning pools\/x\/pool\.yaml:5 .*durationAfterCanary is 601s, and no trial is longer than trial\.duration, which is 10m/,
    );
    assert.deepEqual(pool('  trial: {durationAfterCanary: 10m}\n'), []);
    assert.deepEqual(pool('  rollout: {probation: full}\n  trial: {duration: 2m}\n'), []);
  });
});
