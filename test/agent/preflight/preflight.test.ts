import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../support/property.ts';
import { GIB, found, cpus, args, checkRows } from './support/on-host.ts';

describe('preflight', () => {
  checkRows([['nothing', { maxPods: 110 }, {}, []]]);

  it('says nothing of what it cannot see, and never breaks, whatever the config says', () => {
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom('/x', '10.0.0.1', 0, -1, '5%', []));
    const configs = fc.dictionary(
      fc.constantFrom('maxPods', 'address', 'kubeReserved', 'evictionHard', 'reservedMemory', 'cgroupRoot', 'port'),
      values,
      { noNullPrototype: true },
    );
    forAll(configs, (config) => assert.deepEqual(found(config, {}), []));
    const facts = {
      memoryBytes: GIB,
      availableMemoryBytes: 0,
      onlineCpus: cpus(1),
      runningPods: 3,
      numaNodes: new Set([0]),
      ...args('--x='),
    };
    forAll(configs, (config) => void found(config, facts));
  });
});
