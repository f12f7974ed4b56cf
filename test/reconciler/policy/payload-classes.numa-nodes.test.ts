import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { classifyNodes } from '#reconciler/policy/payload-classes.ts';
import { fleetOf, idleNode } from '../../support/fleet.ts';
import { sizedNode, sizedPool } from '../../support/rollout/sized-pool.ts';

describe('values that follow the NUMA nodes of a machine', () => {
  const names = ['one', 'two', 'twice', 'silent'];
  const nodes = names.map((name) => sizedNode(name, 64, 255));
  const said: Readonly<Record<string, number>> = { one: 1, two: 2, twice: 2 };
  const kubeletNodes = nodes.map((node) => {
    const { status, ...rest } = idleNode(node);
    const numaNodes = said[node.name];
    return { ...rest, status: { ...status, ...(numaNodes === undefined ? {} : { numaNodes }) } };
  });
  const sorted = (memory: string) => {
    const pool = sizedPool(`computed: {systemReserved: {memory: '${memory}'}}\n`);
    const { classes, findings } = classifyNodes(pool, nodes, fleetOf({ nodes, kubeletNodes }), () => []);
    return { given: names.map((name) => classes.byNode.get(name)), findings, classes };
  };

  it('are one class for as many, by what the agents say', () => {
    const { given, classes, findings } = sorted('quantity("512Mi") * numaNodes');
    assert.deepEqual(
      given.map((each) => each?.name.replace(/^memory=\d+Mi,?/, '')),
      ['numaNodes=1', 'numaNodes=2', 'numaNodes=2', ''],
    );
    const reserved = given.map((each) => classes.values.get(each?.config?.sha256 ?? '')?.['systemReserved']);
    assert.deepEqual(reserved, [{ memory: '512Mi' }, { memory: '1024Mi' }, { memory: '1024Mi' }, undefined]);
    assert.match(given[3]?.because ?? '', /its agent does not say its numaNodes$/);
    assert.match(
      findings.map(({ message }) => message).join(),
      /^for machines with memory=\d+Mi, .* keep what they have$/,
    );
  });

  it('are nothing to a pool that does not ask', () => {
    const { given } = sorted('memory * 0.02');
    assert.equal(new Set(given).size, 1);
  });
});
