import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_FILE, withDropIns } from '#shared/contract/kubelet-config/drop-ins.ts';

type Config = Readonly<Record<string, unknown>>;

/** What it is, the file, drop-ins, and what a kubelet 1.28, 1.30 and 1.34 makes of them: seen in their own code. */
type Row = readonly [string, Config, readonly Config[], Config, Config, Config];

const B = [{ key: 'a', value: 'b', effect: 'NoSchedule' }];
const C = [{ key: 'c', effect: 'NoExecute' }];
const HALF = { maxPods: 200, failSwapOn: false, clusterDomain: 'c' };

/** What 1.28 sets with every drop-in, shown where a row is about it. */
const NOISE: ReadonlySet<string> = new Set(['serializeImagePulls', 'nodeStatusReportFrequency', 'evictionHard']);

const ROWS: readonly Row[] = [
  [
    'what a drop-in does not name',
    HALF,
    [{ podPidsLimit: 9 }],
    { clusterDomain: 'c', podPidsLimit: 9 },
    { ...HALF, podPidsLimit: 9 },
    { ...HALF, podPidsLimit: 9 },
  ],
  ['false', {}, [{ cpuCFSQuota: false }], {}, { cpuCFSQuota: false }, { cpuCFSQuota: false }],
  ['null', { maxPods: 50 }, [{ maxPods: null }], {}, { maxPods: 50 }, {}],
  ['null of a list', { clusterDNS: ['d'] }, [{ clusterDNS: null }], { clusterDNS: ['d'] }, { clusterDNS: ['d'] }, {}],
  ['zero', { maxPods: 50 }, [{ maxPods: 0 }], {}, { maxPods: 0 }, { maxPods: 0 }],
  [
    'another name',
    { resolvConf: '/a' },
    [{ resolvConf: '/b' }],
    { resolvConf: '/b' },
    { resolvConf: '/a' },
    { resolvConf: '/b' },
  ],
  [
    'lists of maps',
    { registerWithTaints: B },
    [{ registerWithTaints: C }],
    { registerWithTaints: C },
    { registerWithTaints: [{ key: 'c', value: 'b', effect: 'NoExecute' }] },
    { registerWithTaints: C },
  ],
  ['another case', {}, [{ maxpods: 7 }], {}, { maxPods: 7 }, { maxPods: 7 }],
  ['a case that is sorted before', {}, [{ MAXPODS: 7 }], {}, {}, { maxPods: 110 }],
  ['two cases', {}, [{ maxpods: 7, maxPods: 8 }], { maxPods: 8 }, { maxPods: 7 }, { maxPods: 7 }],
  [
    'an empty list in the file',
    { enforceNodeAllocatable: [] },
    [{ podsPerCore: 1 }],
    { podsPerCore: 1 },
    { enforceNodeAllocatable: [], podsPerCore: 1 },
    { podsPerCore: 1 },
  ],
  ['an unknown name', {}, [{ maxPodz: 1 }], {}, {}, {}],
  [
    'zeros of kubeadm',
    { nodeStatusUpdateFrequency: '0s', nodeStatusReportFrequency: '0s' },
    [{ nodeStatusUpdateFrequency: '20s' }],
    { nodeStatusUpdateFrequency: '20s', nodeStatusReportFrequency: '20s' },
    { nodeStatusUpdateFrequency: '20s', nodeStatusReportFrequency: '5m' },
    { nodeStatusUpdateFrequency: '20s', nodeStatusReportFrequency: '5m' },
  ],
  [
    'several, one taking back what another one sets',
    { podPidsLimit: 5 },
    [{ podPidsLimit: 6 }, { podPidsLimit: null }],
    {},
    { podPidsLimit: 5 },
    {},
  ],
];

describe('drop-ins over a config file', () => {
  for (const [what, file, layers, ...expected] of ROWS) {
    const [, , last] = expected;
    for (const [index, minor] of ['1.28', '1.30', '1.34'].entries()) {
      it(`mean by ${minor} what it makes of ${what}`, () => {
        const config = withDropIns(file, layers, minor);
        const asked = Object.entries(config).filter(([name]) => !NOISE.has(name) || Object.hasOwn(last, name));
        assert.deepEqual(Object.fromEntries(asked), expected[index]);
      });
    }
  }

  it('are not read before 1.28, and where there are none the file is as it is', () => {
    const file = { maxPods: 0, enforceNodeAllocatable: [] };
    assert.equal(withDropIns(file, [{ maxPods: 7 }], '1.27'), file);
    assert.equal(withDropIns(file, [], '1.34'), file);
  });

  it('of a kubelet without a file go over the defaults of its flags, which bring no thresholds', () => {
    const { evictionHard, authorization } = withDropIns(
      NO_FILE,
      [{ evictionHard: { 'memory.available': '1Gi' } }],
      '1.34',
    );
    assert.deepEqual(evictionHard, { 'memory.available': '1Gi' });
    assert.deepEqual(authorization, { mode: 'AlwaysAllow' });
  });

  it('change neither the file nor each other', () => {
    const file = { evictionHard: { a: '1' }, logging: { format: 'text' }, kubeReserved: { cpu: '1' } };
    const layers = [
      { evictionHard: { b: '2' }, logging: { verbosity: 2 } },
      { Logging: { format: 'json' }, kubeReserved: { cpu: null } },
    ];
    const before = structuredClone([file, layers]);
    for (const minor of ['1.28', '1.30', '1.34']) withDropIns(file, layers, minor);
    assert.deepEqual([file, layers], before);
  });
});
