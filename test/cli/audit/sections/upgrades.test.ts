import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditUpgrades } from '#cli/audit/sections/upgrades.ts';
import { answering, checkIn, nodesOf, withFile } from '../support/facts.ts';

const ids = (...nodes: Parameters<typeof auditUpgrades>[0]): readonly string[] =>
  auditUpgrades(nodes).checks.map(({ id }) => id);

describe('what upgrades do to what runs', () => {
  it('is judged for each node from its own version on, also where configs are alike', () => {
    const nodes = ['v1.33.4', 'v1.36.0', 'v1.34.1'].map((kubeletVersion) =>
      answering({ maxPods: 50 }, { name: kubeletVersion, kubeletVersion }),
    );
    const check = checkIn(auditUpgrades(nodes), 'upgrades/1.35/default/failCgroupV1');
    assert.deepEqual(nodesOf(check, 'info'), ['v1.33.4', 'v1.34.1']);
  });

  it('fails for what a later version refuses, under an id of that version', () => {
    const config = { featureGates: { AppArmor: true } };
    const found = auditUpgrades([answering(config, { kubeletVersion: 'v1.32.0' }), answering({}, { name: 'other' })]);
    const [first] = found.checks;
    assert.match(first?.id ?? '', /^upgrades\/1\.3[3-7]\/[a-z-]+\/featureGates\.AppArmor$/);
    assert.deepEqual([first?.severity, first === undefined ? [] : nodesOf(first, 'fail')], ['high', ['n']]);
  });

  it('is also what the version of today drops of a file, which no answer of a kubelet can show', () => {
    assert.ok(ids(withFile({ maxPodz: 1 })).some((id) => id.startsWith('upgrades/now/unknown-field')));
    assert.ok(ids(answering({ maxPodz: 1 })).every((id) => !id.startsWith('upgrades/now')));
  });

  it('names flags that a later version does not start with, and none that this one has lost already', () => {
    const flagged = (kubeletVersion: string) =>
      ids(answering({}, { kubeletVersion, removedFlags: ['container-runtime'] })).filter((id) => id.includes('/flag/'));
    assert.deepEqual(flagged('v1.26.0'), ['upgrades/1.27/flag/container-runtime']);
    assert.deepEqual(flagged('v1.27.0'), []);
  });
});
