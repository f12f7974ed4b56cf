import { describe } from 'node:test';
import { GIB, cpus, args, checkRows, type Fields } from '../support/on-host.ts';

/** The CPUs of the cores that CPU 0 and CPU 1 are of. */
const cores = (...lists: readonly string[]): ReadonlyMap<number, ReadonlySet<number>> =>
  new Map(lists.map((list, cpu) => [cpu, new Set(list.split(',').map(Number))] as const));
const HALVES: Fields = {
  cpuManagerPolicy: 'static',
  reservedSystemCPUs: '0-1',
  cpuManagerPolicyOptions: { 'full-pcpus-only': 'true', 'distribute-cpus-across-numa': 'true' },
};

describe('preflight of static managers', () => {
  checkRows([
    [
      'static CPUs and none kept back',
      { cpuManagerPolicy: 'static' },
      args(),
      ['error no-reserved-cpu cpuManagerPolicy'],
    ],
    ['static CPUs and one kept back', { cpuManagerPolicy: 'static', systemReserved: { cpu: '1' } }, args(), []],
    ['static CPUs and one kept back by a flag', { cpuManagerPolicy: 'static' }, args('--kube-reserved=cpu=1'), []],
    ['static CPUs where flags are not seen', { cpuManagerPolicy: 'static' }, {}, []],
    [
      'static memory that is not what is kept back',
      {
        memoryManagerPolicy: 'Static',
        kubeReserved: { memory: '1Gi' },
        reservedMemory: [{ limits: { memory: '1Gi' } }],
      },
      { memoryBytes: 8 * GIB, ...args() },
      ['error memory-not-equal reservedMemory'],
    ],
    [
      'static memory that is, over two NUMA nodes and with the default threshold',
      {
        memoryManagerPolicy: 'Static',
        kubeReserved: { memory: '1Gi' },
        reservedMemory: [{ limits: { memory: '1Gi' } }, { numaNode: 1, limits: { memory: '100Mi' } }],
      },
      { memoryBytes: 8 * GIB, ...args() },
      [],
    ],
    [
      'static memory by a share of the machine',
      {
        memoryManagerPolicy: 'Static',
        evictionHard: { 'memory.available': '50%' },
        reservedMemory: [{ limits: { memory: '4Gi' } }],
      },
      { memoryBytes: 8 * GIB, ...args() },
      [],
    ],
    [
      'static memory where a flag reserves',
      { memoryManagerPolicy: 'Static' },
      { memoryBytes: 8 * GIB, ...args('--reserved-memory=0:memory=100Mi') },
      [],
    ],
    [
      'static memory that no gate switches on',
      { memoryManagerPolicy: 'Static' },
      { memoryBytes: GIB, ...args() },
      [],
      21,
    ],
    [
      'halves of cores that are reserved on a machine with three NUMA nodes',
      HALVES,
      { numaNodes: cpus(3), coreOf: cores('0,32', '1,33') },
      ['error known-bad cpuManagerPolicyOptions'],
    ],
    ['whole cores that are reserved', HALVES, { numaNodes: cpus(3), coreOf: cores('0,1', '0,1') }, []],
    ['halves of cores on two NUMA nodes', HALVES, { numaNodes: cpus(2), coreOf: cores('0,32', '1,33') }, []],
    ['cores that could not be seen', HALVES, { numaNodes: cpus(3) }, []],
    [
      'halves of cores, and a kubelet that was fixed',
      HALVES,
      { numaNodes: cpus(3), coreOf: cores('0,32', '1,33') },
      [],
      38,
    ],
  ]);
});
