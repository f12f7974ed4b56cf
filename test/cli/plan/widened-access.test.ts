import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePlan } from '#cli/plan/make-plan.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { filesOf, KUBELET, POOL, type Tree } from '../../reconciler/policy/config-repo/support/load.ts';

const cluster = (...lines: readonly string[]): Tree => ({
  'clusters/prod.yaml': [
    'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec:',
    ...['maxUnassign: 1', ...lines].map((line) => `  ${line}`),
    '',
  ].join('\n'),
});
const inPool = (pool: string, layer: string): Tree => ({
  'pools/x/pool.yaml': `${POOL}${pool}`,
  'pools/x/kubelet.yaml': `${KUBELET}${layer}`,
});
const TIGHT = 'rollout: {maxUnavailable: 1, windows: {allow: [{cron: "0 2 * * *", duration: 1h}]}}';
const NIGHT = 'windows: {allow: [{cron: "0 2 * * *", duration: 1h}]}';

/** What the plan says of security when one tree becomes another. */
function opened(before: Tree, after: Tree): readonly string[] {
  const base: LoadedRepo = loadRepo(filesOf(before), { cluster: 'prod' });
  const head = loadRepo(filesOf(after), { cluster: 'prod', boundsBefore: base.cluster });
  const { findings } = makePlan({
    base: { name: 'base', commit: undefined, repo: base, kept: new Map() },
    head: { name: 'head', repo: head },
    cluster: 'prod',
    nodes: undefined,
    inForce: undefined,
  });
  return findings
    .filter(({ kind }) => kind === 'security')
    .map(({ code, field, message }) => `${code} ${field}: ${message}`);
}

const START = { ...cluster(), ...inPool('', 'maxPods: 5\n') };
const OPEN = 'authentication: {anonymous: {enabled: true}}\n';

describe('what a plan says that a change opens', () => {
  it('is nothing for an ordinary change', () => {
    assert.deepEqual(opened(START, { ...START, ...inPool('', 'maxPods: 6\nreadOnlyPort: 0\n') }), []);
  });

  it('is an allowance, with what the field gives, and a denial that goes', () => {
    const [allowed, ...rest] = opened(START, { ...START, ...cluster('fields: {allow: [staticPodPath]}') });
    assert.match(
      allowed ?? '',
      /^opens spec\.fields\.allow: from the next commit on, whoever may change a pool may set staticPodPath: .* runs pods of any kind/,
    );
    assert.deepEqual(rest, []);
    const denies = { ...START, ...cluster('fields: {deny: [maxPods]}'), ...inPool('', '') };
    assert.match(
      opened(denies, START).join('\n'),
      /^opens spec\.fields\.deny: .* may set maxPods, which was denied so far/,
    );
  });

  it('is what an allowance takes from nodes whose pool replaces their own config', () => {
    const replacing = { ...START, ...inPool('  apply: replace\n', 'maxPods: 5\n') };
    const loses = /; nodes of x \(apply: replace\) lose their own value of it with the next config$/;
    assert.match(opened(replacing, { ...replacing, ...cluster('fields: {allow: [staticPodPath]}') }).join('\n'), loses);
    const denying = { ...replacing, ...cluster('fields: {deny: [clusterDomain]}') };
    assert.match(opened(denying, replacing).join('\n'), loses);
  });

  it('is who gains access, where an allowed field opens the API of the kubelet', () => {
    const allowing = { ...START, ...cluster('fields: {allow: [authentication]}') };
    const said = opened(allowing, { ...allowing, ...inPool('', `maxPods: 5\n${OPEN}`) });
    assert.match(
      said.join('\n'),
      /^opens authentication\.anonymous\.enabled: .* becomes true: whoever chose it lets anybody who reaches port 10250 run commands/,
    );
    assert.deepEqual(opened({ ...allowing, ...inPool('', OPEN) }, allowing), [], 'taking it back opens nothing');
  });

  it('is that the change cannot use what it allows itself', () => {
    const both = { ...cluster('fields: {allow: [authentication]}'), ...inPool('', OPEN) };
    const said = opened(START, both).join('\n');
    assert.match(said, /^opens spec\.fields\.allow/);
    assert.match(said, /^denied-field authentication\.anonymous\.enabled/m);
  });

  it('is a protection that goes', () => {
    const weak = { ...START, ...inPool('', 'maxPods: 5\nclusterDNS: [203.0.113.66]\n') };
    assert.match(
      opened(START, weak).join('\n'),
      /^weakens-security clusterDNS: whoever chooses clusterDNS answers every name/,
    );
    assert.deepEqual(opened(weak, { ...weak, ...inPool('', 'maxPods: 6\nclusterDNS: [203.0.113.66]\n') }), [], 'once');
  });

  for (const [what, before, after, expected] of [
    [
      'more nodes that one commit may change',
      cluster('maxChange: 10%'),
      cluster('maxChange: 90%'),
      /^opens spec\.maxChange: .* 90% of all nodes/,
    ],
    [
      'a limit of changes that is gone',
      cluster('maxChange: 10%'),
      cluster(),
      /^opens spec\.maxChange: .* 80% of all nodes/,
    ],
    [
      'more nodes that may be away',
      cluster('maxUnavailable: 1'),
      cluster('maxUnavailable: 5'),
      /^opens spec\.maxUnavailable: 5 of all/,
    ],
    [
      'shorter trials',
      cluster(),
      cluster('trial: {minDuration: 1s}'),
      /^opens spec\.trial\.minDuration: .* trials of 1s$/,
    ],
    [
      'kubelets that may take longer to start',
      cluster('trial: {maxStartTimeout: 5m}'),
      cluster('trial: {maxStartTimeout: 6m}'),
      /^opens spec\.trial\.maxStartTimeout: .* a startTimeout of 6m$/,
    ],
    ['no bound over all pools', cluster('maxUnavailable: 1'), cluster(), /^opens spec\.maxUnavailable: any number/],
    ['windows that are gone', cluster(NIGHT), cluster(), /^opens spec\.windows: changes may begin at times/],
    [
      'more nodes of a pool at a time',
      inPool(`  ${TIGHT}\n`, ''),
      inPool(`  ${TIGHT.replace('1,', '9,')}\n`, ''),
      /^opens spec\.rollout\.maxUnavailable: 9 of its/,
    ],
    ['a pool’s windows that are gone', inPool(`  ${TIGHT}\n`, ''), inPool('', ''), /^opens spec\.rollout\.windows: /],
    [
      'drains without asking',
      inPool('', ''),
      inPool('  disruption: {allow: [restart, drain]}\n', ''),
      /^opens spec\.disruption\.allow: .* drain/,
    ],
  ] as const) {
    it(`is a looser limit: ${what}`, () => {
      assert.match(opened({ ...START, ...before }, { ...START, ...after }).join('\n'), expected);
      assert.deepEqual(opened({ ...START, ...after }, { ...START, ...before }), [], 'a tighter one opens nothing');
    });
  }
});
