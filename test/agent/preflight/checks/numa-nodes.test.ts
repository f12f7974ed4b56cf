import { describe } from 'node:test';
import { checkRows, cpus, type Fields } from '../support/on-host.ts';

const managed = (topologyManagerPolicy: string, most?: string): Fields => ({
  topologyManagerPolicy,
  ...(most === undefined ? {} : { topologyManagerPolicyOptions: { 'max-allowable-numa-nodes': most } }),
});
const ALIGNED: Fields = {
  cpuManagerPolicy: 'static',
  reservedSystemCPUs: '0',
  cpuManagerPolicyOptions: { 'align-by-socket': 'true' },
};
const TOO_MANY = ['error too-many-numa-nodes topologyManagerPolicy'];

describe('preflight of NUMA nodes', () => {
  checkRows([
    ['nine nodes', managed('best-effort'), { numaNodes: cpus(9) }, TOO_MANY],
    ['nine nodes, on the oldest', managed('single-numa-node'), { numaNodes: cpus(9) }, TOO_MANY, 20],
    ['eight', managed('restricted'), { numaNodes: cpus(8) }, []],
    ['34 where 16 are allowed', managed('restricted', '16'), { numaNodes: cpus(34) }, TOO_MANY],
    ['34 where as many are allowed', managed('restricted', '34'), { numaNodes: cpus(34) }, []],
    ['34 without a policy', managed('none'), { numaNodes: cpus(34) }, []],
    [
      'a manager whose gate is off',
      { ...managed('restricted'), featureGates: { TopologyManager: false } },
      { numaNodes: cpus(9) },
      [],
      26,
    ],
    ['nodes that nobody counted', managed('restricted'), {}, []],
    [
      'more sockets than nodes',
      ALIGNED,
      { numaNodes: cpus(1), sockets: 2 },
      ['error too-few-numa-nodes cpuManagerPolicyOptions'],
    ],
    ['as many', ALIGNED, { numaNodes: cpus(2), sockets: 2 }, []],
    [
      'sockets that nobody asks for',
      { ...ALIGNED, cpuManagerPolicyOptions: { 'align-by-socket': 'false' } },
      { numaNodes: cpus(1), sockets: 2 },
      [],
    ],
    ['sockets under another policy', { ...ALIGNED, cpuManagerPolicy: 'none' }, { numaNodes: cpus(1), sockets: 2 }, []],
  ]);
});
