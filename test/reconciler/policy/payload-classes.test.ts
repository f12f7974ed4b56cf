import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recordedClasses, classifyNodes, UNKNOWN_CLASS } from '#reconciler/policy/payload-classes.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { configMapName } from '#shared/contract/config-map-hash.ts';
import { assignedNode, configSource, fleetOf, idleNode, nodeView, recordOf } from '../../support/fleet.ts';
import { sizedNode, sizedPool } from '../../support/rollout/sized-pool.ts';

const pool = () => sizedPool("computed: {systemReserved: {memory: 'memory * 0.1'}}\n");
const small = (name: string) => sizedNode(name, 2, 7.7);
const large = (name: string) => sizedNode(name, 16, 62.3);
const accept = () => [];

function given(node: NodeView, of: ValidPool = pool()): ValidPool {
  const found = poolOfNode(of, node).class.pool;
  assert.ok(found !== undefined);
  return found;
}

describe('the nodes of a pool with computed values', () => {
  it('keep what they were sorted by, where that is not kept yet', () => {
    const sizes = 'memory=7680Mi,ephemeralStorage=102400Mi';
    const kept = (node: NodeView, had: string) => {
      const present = idleNode(node);
      return { ...present, metadata: { ...present.metadata, annotations: { [MACHINE_ANNOTATION]: had } } };
    };
    const nodes = [small('new'), small('bare'), small('known'), small('other'), nodeView('mute', 'x')];
    const fleet = fleetOf({
      nodes,
      kubeletNodes: [idleNode(small('bare')), kept(small('known'), sizes), kept(small('other'), 'memory=1Mi')],
    });
    const { classes } = classifyNodes(pool(), nodes, fleet, accept);
    assert.deepEqual(
      [...classes.sizes],
      [
        ['new', sizes],
        ['bare', sizes],
        ['other', sizes],
      ],
    );
  });

  it('are judged class by class, and those with no config by nobody', () => {
    const judged: unknown[] = [];
    const partly = sizedPool('computed: {systemReserved: {memory: \'memory - quantity("16Gi")\'}}\n');
    const nodes = [small('a'), large('b'), large('c')];
    const { classes, findings } = classifyNodes(partly, nodes, fleetOf({ nodes }), (of, minors) => {
      judged.push([of.sha256, minors]);
      return [];
    });
    assert.deepEqual(judged, [[given(large('b'), partly).sha256, ['1.36']]]);
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['not-computable'],
    );
    assert.equal(classes.byNode.get('a')?.config, null);
    assert.equal(classes.byNode.get('b')?.because, '');
    assert.equal(classes.byNode.get('b'), classes.byNode.get('c'));
    assert.deepEqual([...classes.configs.keys()], [given(large('b'), partly).sha256]);
  });

  it('have none where the kubelets of their class refuse it, with the first error', () => {
    const found = ['warning', 'error', 'error'].map((severity, index) => ({
      code: `c${index}`,
      severity: severity as 'warning' | 'error',
      message: 'no',
    }));
    const refused = (count: number) =>
      classifyNodes(pool(), [small('a')], fleetOf({}), () => found.slice(0, count)).classes.byNode.get('a');
    assert.equal(refused(1)?.config?.sha256, given(small('a')).sha256);
    assert.deepEqual([refused(3)?.config, refused(3)?.name], [null, 'memory=7680Mi']);
    assert.match(refused(3)?.because ?? '', /^the config is not valid: .*c1/);
  });

  it('have what their config says, unless the same was written in other bytes', () => {
    const { sha256, value, name } = given(small('a'));
    const fleet = (...sources: Parameters<typeof configSource>[1][]) =>
      fleetOf({ nodes: [small('a')], configSources: sources.map((view) => configSource(given(small('a')), view)) });
    const values = (of: ReturnType<typeof fleetOf>) => classifyNodes(pool(), [small('a')], of, accept).classes;
    assert.deepEqual([...values(fleet()).values], [[sha256, value]]);
    const payload = JSON.stringify(value);
    const older = { payload, sha256: 'old', canonicalForm: 0, name: configMapName(name, payload) };
    const adopted = values(fleet(older));
    assert.deepEqual([...adopted.values], []);
    assert.deepEqual([...adopted.configs.keys()], ['old']);
  });
});

describe('the classes that a status has, where no commit was read', () => {
  it('are those of the nodes that were told the config of one, and of no other', () => {
    const [forSmall, forLarge] = [given(small('a')), given(large('b'))];
    const status = {
      classes: [],
      proof: writeProof([
        recordOf('small', forSmall.sha256),
        { ...recordOf('large', forLarge.sha256), current: null },
        { ...recordOf('none', ''), current: null, proven: null },
      ]),
    };
    const nodes = ['told', 'unnamed', 'other', 'idle', 'local', 'unmet'].map((name) => nodeView(name, 'x'));
    const [told, unnamed, other, idle, local] = nodes as [NodeView, NodeView, NodeView, NodeView, NodeView];
    const { spec: _, ...speechless } = idleNode(idle);
    const fleet = fleetOf({
      nodes,
      configSources: [configSource(forSmall)],
      kubeletNodes: [
        assignedNode(told, forSmall),
        assignedNode(unnamed, forLarge),
        assignedNode(other, { ...forSmall, sha256: 'f'.repeat(64) }),
        speechless,
        idleNode(local),
      ],
    });
    const found = recordedClasses(status, { apply: 'overlay' }, nodes, fleet);
    const config = { name: forSmall.configName, sha256: forSmall.sha256 };
    assert.deepEqual(found?.byNode.get('told'), {
      name: 'small',
      config,
      target: { sha256: config.sha256, apply: 'overlay' },
      because: '',
    });
    for (const name of ['unnamed', 'other', 'idle', 'local', 'unmet'])
      assert.equal(found?.byNode.get(name), UNKNOWN_CLASS, name);
    assert.deepEqual(
      [...(found?.nodes ?? [])].map(([{ name }, count]) => [name, count]),
      [
        ['small', 1],
        ['', 5],
      ],
    );
    assert.deepEqual([...(found?.configs ?? [])], [[config.sha256, config]]);
    assert.deepEqual([...(found?.values ?? [])], []);
    assert.equal(found?.sizes.size, 0);
    assert.equal(recordedClasses({}, { apply: 'overlay' }, nodes, fleet), undefined);
  });
});
