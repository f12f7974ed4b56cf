import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cpuStateRequirement } from '#agent/kubelet/manager-state/cpu-manager-state.ts';
import {
  type StateRequirement,
  type ManagerState,
  parseState,
} from '#agent/kubelet/manager-state/state-requirement.ts';
import { memoryStateRequirement } from '#agent/kubelet/manager-state/memory-manager-state.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';

type Config = Readonly<Record<string, unknown>>;

const cpu = (config: Config, minor = 34): StateRequirement => cpuStateRequirement(viewOf(config, minor, 'replace'));
const memory = (config: Config, minor = 34): StateRequirement =>
  memoryStateRequirement(viewOf(config, minor, 'replace'));
const yesOrNo = (is: boolean): string => (is ? 'takes' : 'refuses');

const STATIC = { cpuManagerPolicy: 'static', systemReserved: { cpu: '500m' } };
const NAMED = { cpuManagerPolicy: 'static', reservedSystemCPUs: '0-1' };
const STRICT = { ...NAMED, cpuManagerPolicyOptions: { 'strict-cpu-reservation': 'true' } };

const none: ManagerState = { policyName: 'none', defaultCpuSet: '', checksum: 1 };
const idle: ManagerState = { policyName: 'static', defaultCpuSet: '0-7', checksum: 1 };
const pinned = (free: string, given: string): ManagerState => ({
  policyName: 'static',
  defaultCpuSet: free,
  entries: { 'pod-uid': { container: given } },
});

describe('a kubelet and the state of its CPU manager', () => {
  const rows: readonly (readonly [what: string, before: Config, ManagerState, after: Config, fits: boolean])[] = [
    ['none by default', {}, none, { cpuManagerPolicy: 'none' }, true],
    ['none by an empty text', {}, none, { cpuManagerPolicy: '' }, true],
    ['none, whatever is reserved', {}, none, { kubeReserved: { cpu: '3' } }, true],
    ['from none to static', {}, none, STATIC, false],
    ['from static to none', STATIC, pinned('0,3-7', '1-2'), {}, false],
    [
      'the same reservation in other words',
      STATIC,
      pinned('0,3-7', '1-2'),
      { ...STATIC, systemReserved: { cpu: '0.5' } },
      true,
    ],
    [
      'parts of CPUs that come to the same number',
      STATIC,
      pinned('0,3-7', '1-2'),
      { ...STATIC, kubeReserved: { cpu: '400m' } },
      true,
    ],
    [
      'one CPU more, while some are given away',
      STATIC,
      pinned('0,3-7', '1-2'),
      { ...STATIC, kubeReserved: { cpu: '1' } },
      false,
    ],
    ['one CPU more, while none is given away', STATIC, idle, { ...STATIC, kubeReserved: { cpu: '1' } }, true],
    ['reserved memory', STATIC, pinned('0,3-7', '1-2'), { ...STATIC, kubeReserved: { memory: '1Gi' } }, true],
    [
      'options that choose other CPUs',
      STATIC,
      pinned('0,3-7', '1-2'),
      { ...STATIC, cpuManagerPolicyOptions: { 'distribute-cpus-across-numa': 'true' } },
      false,
    ],
    ['named CPUs in another spelling', NAMED, pinned('0-1,4-7', '2-3'), { ...NAMED, reservedSystemCPUs: '1,0' }, true],
    ['named CPUs that are all free', NAMED, pinned('0-1,4-7', '2-3'), { ...NAMED, reservedSystemCPUs: '0,4' }, true],
    ['a named CPU that is given away', NAMED, pinned('0-1,4-7', '2-3'), { ...NAMED, reservedSystemCPUs: '0-2' }, false],
    ['strict reservation, switched on', NAMED, idle, STRICT, false],
    ['strict reservation, switched off', STRICT, { ...idle, defaultCpuSet: '2-7' }, NAMED, false],
    ['strict reservation, as before', STRICT, { ...idle, defaultCpuSet: '2-7' }, STRICT, true],
    [
      'strict reservation of other CPUs',
      STRICT,
      { ...idle, defaultCpuSet: '2-7' },
      { ...STRICT, reservedSystemCPUs: '0' },
      false,
    ],
    [
      'CPUs given to a pod as a whole',
      STATIC,
      { ...idle, podEntries: { uid: {} } },
      { ...STATIC, kubeReserved: { cpu: '1' } },
      false,
    ],
  ];
  for (const [what, before, state, after, fits] of rows) {
    it(`${yesOrNo(fits)} it: ${what}`, () => assert.equal(cpu(after).accepts(state, cpu(before).basis), fits));
  }

  it('do not fit for certain where nobody knows what the state was computed from', () => {
    assert.equal(cpu(STATIC).accepts(pinned('0,3-7', '1-2'), undefined), false);
    assert.equal(cpu({}).accepts(none, undefined), true);
  });

  it('have nothing to do with each other where the gate is off, and all versions have the gate', () => {
    const off = { cpuManagerPolicy: 'static', featureGates: { CPUManager: false } };
    assert.equal(cpu(off, 25).isRead, false);
    assert.equal(cpu({ ...STATIC, featureGates: { AllBeta: false } }, 25).isRead, false);
    for (const minor of [20, 25, 26, 32, 33, 36]) assert.equal(cpu(STATIC, minor).isRead, true);
  });
});

describe('a kubelet and the state of its memory manager', () => {
  const reserved = (...amounts: readonly string[]): Config => ({
    memoryManagerPolicy: 'Static',
    reservedMemory: amounts.map((amount, numaNode) => ({ numaNode, limits: { memory: amount } })),
  });
  const table = (systemReserved: number): Config => ({
    total: 8e9,
    systemReserved,
    allocatable: 7e9,
    reserved: 0,
    free: 7e9,
  });
  const state = (...amounts: readonly number[]): ManagerState => ({
    policyName: 'Static',
    machineState: Object.fromEntries(
      amounts.map((bytes, node) => [node, { memoryMap: { memory: table(bytes), 'hugepages-2Mi': table(0) } }]),
    ),
    checksum: 1,
  });
  const GI = 2 ** 30;

  const rows: readonly (readonly [what: string, ManagerState, Config, fits: boolean])[] = [
    ['None by default', { policyName: 'None' }, {}, true],
    ['from None to Static', { policyName: 'None' }, reserved('1Gi'), false],
    ['from Static to None', state(GI), {}, false],
    ['the same in other words', state(GI), reserved('1024Mi'), true],
    ['another amount', state(GI), reserved('1100Mi'), false],
    ['another node', state(GI, 0), { ...reserved('0', '1Gi') }, false],
    ['one node after another', state(GI, 2 * GI), reserved('1Gi', '2Gi'), true],
    [
      'huge pages, which were not',
      state(GI),
      {
        memoryManagerPolicy: 'Static',
        reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi', 'hugepages-2Mi': '64Mi' } }],
      },
      false,
    ],
    [
      'a reservation that moves within the sum',
      state(GI),
      { ...reserved('1Gi'), kubeReserved: { memory: '900Mi' } },
      true,
    ],
    ['a state that was only just begun', { policyName: 'Static', machineState: {} }, reserved('3Gi'), true],
  ];
  for (const [what, found, config, fits] of rows) {
    it(`${yesOrNo(fits)} it: ${what}`, () => {
      assert.equal(memory(config).accepts(found, undefined), fits);
      assert.equal(memory(config).accepts(found, 'Static; 0 memory=1'), fits, 'the state itself says it all');
    });
  }

  it('have nothing to do with each other before there was such a manager, and while the gate is off', () => {
    assert.equal(memory(reserved('1Gi'), 20).isRead, false);
    assert.equal(memory(reserved('1Gi'), 21).isRead, false, 'alpha');
    assert.equal(memory({ ...reserved('1Gi'), featureGates: { MemoryManager: true } }, 21).isRead, true);
    assert.equal(memory({ ...reserved('1Gi'), featureGates: { MemoryManager: false } }, 30).isRead, false);
    for (const minor of [22, 31, 32, 35, 36]) assert.equal(memory(reserved('1Gi'), minor).isRead, true);
  });
});

describe('a state file', () => {
  for (const [what, bytes] of [
    ['emptied by a power failure', Buffer.alloc(0)],
    ['filled with zeros', Buffer.alloc(64)],
    ['torn', Buffer.from('{"policyName":"static","defaultCpu')],
    ['of no policy', Buffer.from('{"checksum":1}')],
    ['that is a list', Buffer.from('[]')],
    ['that is no text', Buffer.from([0x22, 0xff, 0x22])],
  ] as const) {
    it(`${what} is none`, () => assert.equal(parseState(bytes), undefined));
  }

  const whole = { policyName: 'static', defaultCpuSet: '2-7', podEntries: { uid: { cpuSet: '0-1' } } };
  const written = {
    policyName: 'static',
    defaultCpuSet: '2-7',
    checksum: 1,
    data: JSON.stringify(whole),
    dataChecksum: 2,
  };

  it('of kubelets from 1.37 on is read as a whole, and has CPUs to lose that only its data names', () => {
    const state = parseState(Buffer.from(JSON.stringify(written)));
    assert.deepEqual(state?.['podEntries'], whole.podEntries);
    const more = { ...STATIC, kubeReserved: { cpu: '1' } };
    assert.equal(cpu(more, 37).accepts(state ?? {}, cpu(STATIC, 37).basis), false);
  });

  for (const data of ['{"policyName":"sta', '7']) {
    it(`of kubelets from 1.37 on is none where its data is ${data}`, () =>
      assert.equal(parseState(Buffer.from(JSON.stringify({ ...written, data }))), undefined));
  }

  it('is what has a policy', () => assert.equal(parseState(Buffer.from('{"policyName":""}'))?.['policyName'], ''));
});
