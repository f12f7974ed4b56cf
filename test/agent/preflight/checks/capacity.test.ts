import { describe } from 'node:test';
import { GIB, cpus, room, checkRows } from '../support/on-host.ts';

describe('preflight of capacity', () => {
  checkRows([
    [
      'more reserved than there is',
      {
        kubeReserved: { memory: '6Gi' },
        systemReserved: { memory: '2Gi' },
        evictionHard: { 'memory.available': '5%' },
      },
      { memoryBytes: 8 * GIB, onlineCpus: cpus(4) },
      ['error nothing-left kubeReserved'],
    ],
    [
      'almost all reserved',
      { kubeReserved: { cpu: '3700m' } },
      { memoryBytes: 8 * GIB, onlineCpus: cpus(4) },
      ['warning little-left kubeReserved'],
    ],
    [
      'a sound reservation',
      { kubeReserved: { cpu: '100m', memory: '1Gi' } },
      { memoryBytes: 8 * GIB, onlineCpus: cpus(4) },
      [],
    ],
    [
      'thresholds that are switched off, and keep nothing back',
      { evictionHard: { 'memory.available': '100%', 'nodefs.available': '100%' } },
      { memoryBytes: 8 * GIB, nodefs: room() },
      [],
    ],
    [
      'CPUs by number in place of the shares',
      { reservedSystemCPUs: '0', kubeReserved: { cpu: '3' }, systemReserved: { cpu: '3' } },
      { onlineCpus: cpus(4) },
      [],
    ],
    [
      'all CPUs by number',
      { reservedSystemCPUs: '0-3' },
      { onlineCpus: cpus(4) },
      ['error nothing-left reservedSystemCPUs'],
    ],
    [
      'more storage reserved than there is',
      { kubeReserved: { 'ephemeral-storage': '9Gi' }, evictionHard: { 'nodefs.available': '15%' } },
      { nodefs: room() },
      ['error nothing-left kubeReserved'],
    ],
    [
      'storage that the kubelet does not look at',
      { kubeReserved: { 'ephemeral-storage': '90Gi' }, localStorageCapacityIsolation: false },
      { nodefs: room() },
      [],
    ],
    [
      'more process ids reserved than there are',
      { systemReserved: { pid: '40000' } },
      { mostPids: 32_768 },
      ['error nothing-left systemReserved'],
    ],
    [
      'CPUs that there are not',
      { reservedSystemCPUs: '0-1,9' },
      { onlineCpus: cpus(4) },
      ['error no-such-cpu reservedSystemCPUs'],
    ],
    [
      'a NUMA node that there is not',
      { memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 1, limits: { memory: '1Gi' } }] },
      { numaNodes: new Set([0]) },
      ['error no-such-numa-node reservedMemory'],
    ],
    ['fewer pods than run', { maxPods: 20 }, { runningPods: 21 }, ['error too-many-pods maxPods']],
    [
      'fewer pods by cores',
      { maxPods: 110, podsPerCore: 5 },
      { runningPods: 21, onlineCpus: cpus(4) },
      ['error too-many-pods podsPerCore'],
    ],
    ['as many pods as run', { maxPods: 20 }, { runningPods: 20 }, []],
  ]);
});
