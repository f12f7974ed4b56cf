import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '#sandbox/sandbox.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../../support/until.ts';
import { configOf, PATIENCE_MS, phaseOf, settled } from '../support.ts';

const OURS = 'apiVersion: kubelet-gitops.dev/v1alpha1\n';
const layer = (fields: string): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${fields}`;
const pool = (label: string): string =>
  `${OURS}kind: KubeletPool\nspec:\n  nodeSelector: {matchLabels: {role: ${label}}}\n  layers: [../../shared/base.yaml, kubelet.yaml]\n` +
  '  rollout: {maxUnavailable: 2, onFailure: {threshold: 1, action: halt}, soak: 0s}\n  trial: {duration: 200ms, startTimeout: 30s}\n';
const cluster = (spec: string): string => `${OURS}kind: ClusterConfig\nspec: ${spec}\n`;

const SHORT = 'trial: {minDuration: 200ms}';

const FILES = {
  'shared/base.yaml': layer('containerLogMaxFiles: 7\n'),
  'pools/general/pool.yaml': pool('general'),
  'pools/general/kubelet.yaml': layer('maxPods: 120\n'),
  'pools/gpu/pool.yaml': pool('gpu'),
  'pools/gpu/kubelet.yaml': layer('maxPods: 60\n'),
  'clusters/staging.yaml': cluster(`{maxUnavailable: 2, ${SHORT}}`),
  'clusters/production.yaml': cluster(`{suspend: true, ${SHORT}}`),
};

const world = (name: string, nodes: SandboxOptions['nodes'], git?: Sandbox['git']): Promise<Sandbox> =>
  startSandbox({ cluster: name, nodes, log: () => silentLog, pollMs: 100, ...(git === undefined ? {} : { git }) });

const node = (name: string, role: string) => ({ name, labels: { role } });
const active = ({ api }: Sandbox, name: string): string | undefined =>
  (api.store.get(KUBELET_NODES, name) as KubeletNode | undefined)?.status?.active?.name;

it('two clusters follow one repository, each by its own file, with notes and halts of its own', async () => {
  const staging = await world('staging', [node('a', 'general'), node('b', 'gpu')]);
  // Of the same names, as nodes of different clusters may be.
  const production = await world('production', [node('a', 'general')], staging.git);
  const { git } = staging;
  const noteOf = async (of: Sandbox, commit: string): Promise<string> =>
    (await git.readNotes(of.notesRef)).get(commit) ?? '';
  try {
    const first = await git.commit({ files: FILES, message: 'Begin' });
    const there = await staging.until('staging settled', (view) => settled(view) && view.source.commit === first);
    assert.deepEqual([phaseOf(there, 'general'), phaseOf(there, 'gpu')], ['Settled', 'Settled']);

    // Suspended there: taken up, and nothing begun.
    const held = await production.until('production taken up', ({ source }) => source.commit === first);
    assert.equal(phaseOf(held, 'gpu'), 'Empty');
    await production.until('the first report of its node', () => active(production, 'a') !== undefined);
    assert.equal(active(production, 'a'), 'local');

    const second = await git.commit({
      files: { 'clusters/production.yaml': cluster(`{maxUnavailable: 1, ${SHORT}}`) },
      message: 'Promote',
    });
    const promoted = await production.until(
      'production settled',
      (view) => settled(view) && view.source.commit === second,
    );
    // A payload follows from the commit alone: the same in both, name and all, shared layer included.
    assert.equal(configOf(promoted, 'general'), configOf(there, 'general'));
    assert.equal(active(production, 'a'), configOf(there, 'general'));
    const starts = staging.nodes.get('a')?.kubelet.starts();

    // A config that only nodes of one cluster fall back from halts there, and nowhere else.
    const third = await git.commit({
      files: { 'pools/gpu/kubelet.yaml': layer('maxOpenFiles: 20\n') },
      message: 'Too many CPUs',
    });
    await staging.until('halted', (view) => phaseOf(view, 'gpu') === 'Halted');
    await production.until('gone on', (view) => settled(view) && view.source.commit === third);
    assert.equal(staging.nodes.get('a')?.kubelet.starts(), starts, 'the other pool was left alone');

    assert.notEqual(staging.notesRef, production.notesRef);
    await until(
      'notes of both',
      async () => /halted/.test(await noteOf(staging, third)) && /settled/.test(await noteOf(production, third)),
      { withinMs: PATIENCE_MS, everyMs: 50 },
    );
    assert.match(await noteOf(staging, third), /^staging: /);
    assert.match(await noteOf(production, third), /^production: /);
  } finally {
    await production.stop();
    await staging.stop();
  }
});
