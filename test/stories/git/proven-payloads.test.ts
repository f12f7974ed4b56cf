import assert from 'node:assert/strict';
import { it } from 'node:test';
import { commitRelease } from '#reconciler/reporting/notes/recorded-commits.ts';
import { startSandbox, type Sandbox } from '#sandbox/sandbox.ts';
import { approvalValue, awaitedApprovals } from '#shared/contract/api/approval.ts';
import { APPROVE_ANNOTATION, RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_POOLS, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../../support/until.ts';
import { PATIENCE_MS, settled } from '../support.ts';

const OURS = 'apiVersion: kubelet-gitops.dev/v1alpha1\n';
const pool = (role: string): string =>
  `${OURS}kind: KubeletPool\nspec:\n  nodeSelector: {matchLabels: {role: ${role}}}\n` +
  '  rollout: {maxUnavailable: 2, onFailure: {threshold: 1, action: halt}, soak: 0s}\n  trial: {duration: 200ms, startTimeout: 30s}\n';
const cluster = (spec: string): string => `${OURS}kind: ClusterConfig\nspec: {trial: {minDuration: 200ms}${spec}}\n`;
const pods = (count: number): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: ${count}\n`;

const world = (name: string, roles: readonly string[], git?: Sandbox['git']): Promise<Sandbox> =>
  startSandbox({
    cluster: name,
    nodes: roles.map((role) => ({ name: `${name}-${role}`, labels: { role } })),
    log: () => silentLog,
    pollMs: 100,
    ...(git && { git }),
  });

/** Production has nodes of two pools, staging of one. */
async function pair(
  more: string,
): Promise<{ readonly staging: Sandbox; readonly production: Sandbox } & AsyncDisposable> {
  const staging = await world('staging', ['general']);
  const production = await world('production', ['general', 'gpu'], staging.git);
  const first = await staging.git.commit({
    files: {
      'pools/general/pool.yaml': pool('general'),
      'pools/general/kubelet.yaml': pods(110),
      'pools/gpu/pool.yaml': pool('gpu'),
      'pools/gpu/kubelet.yaml': pods(50),
      'clusters/staging.yaml': cluster(', maxChange: "100%"'),
      'clusters/production.yaml': cluster(
        `, maxChange: "100%", follows: {clusters: [staging], settledFor: 500ms${more}}`,
      ),
    },
    message: 'Begin',
  });
  for (const each of [staging, production]) await onCommit(each, first);
  return {
    staging,
    production,
    async [Symbol.asyncDispose]() {
      await production.stop();
      await staging.stop();
    },
  };
}

const onCommit = (of: Sandbox, commit: string): Promise<unknown> =>
  of.until(`settled on ${commit.slice(0, 8)}`, (view) => settled(view) && view.source.commit === commit);
const inForce = async (of: Sandbox): Promise<string> => (await of.status()).source.commit;
const poolOf = (of: Sandbox, name: string): Promise<KubeletPool | null> =>
  of.kube.get<KubeletPool>({ resource: KUBELET_POOLS }, name);

async function says(of: Sandbox, message: RegExp): Promise<void> {
  const standing = async (): Promise<boolean> => {
    const source = await of.kube.get<KubeletSource>({ resource: KUBELET_SOURCES }, SOURCE_NAME);
    const found = source?.status?.conditions?.find(({ type }) => type === 'Following');
    return found?.status === 'True' && message.test(found.message);
  };
  await until(`Following: ${message}`, standing, { withinMs: PATIENCE_MS, everyMs: 50 });
}

const noted = (of: Sandbox, commit: string, text: RegExp): Promise<unknown> =>
  until(`noted: ${text}`, async () => text.test((await of.git.readNotes(of.notesRef)).get(commit) ?? ''), {
    withinMs: PATIENCE_MS,
    everyMs: 50,
  });

it('what staging has no nodes for waits for a person where it has to be proven, and a proven one goes by itself', async () => {
  await using worlds = await pair(', require: payloads');
  const { staging, production } = worlds;
  const { git } = staging;
  const proven = await git.commit({ files: { 'pools/general/kubelet.yaml': pods(120) }, message: 'General' });
  await onCommit(production, proven);

  const gpu = await git.commit({ files: { 'pools/gpu/kubelet.yaml': pods(60) }, message: 'GPU' });
  await says(
    production,
    new RegExp(`of ${gpu.slice(0, 12)}, staging proves nothing of gpu\\. .*kubelet-gitops approve gpu`),
  );
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal(await inForce(production), proven);
  const [before] = awaitedApprovals((await poolOf(production, 'gpu'))?.status);
  await production.restartReconciler(() => Promise.resolve(), true);

  const later = await git.commit({ files: { 'pools/general/kubelet.yaml': pods(130) }, message: 'Later' });
  await onCommit(staging, later);
  await says(production, new RegExp(`of ${later.slice(0, 12)}, staging proves nothing of gpu`));
  assert.equal(await inForce(production), proven, 'it contains the other');
  const [asked] = awaitedApprovals((await poolOf(production, 'gpu'))?.status);
  assert.ok(asked !== undefined);
  assert.deepEqual(asked, before, 'of the same payload since the same time');
  const annotations = { [APPROVE_ANNOTATION]: approvalValue(asked) };
  await production.kube.mergePatch<KubeletPool>({ resource: KUBELET_POOLS }, 'gpu', { metadata: { annotations } });
  await onCommit(production, later);
  assert.deepEqual(awaitedApprovals((await poolOf(production, 'gpu'))?.status), []);
  await noted(production, later, /approved, though nobody had proven it: gpu by somebody at 20/);

  const back = await git.commit({ files: { 'pools/gpu/kubelet.yaml': pods(50) }, message: 'Back' });
  await onCommit(production, back);

  const alone = await git.commit({
    files: {
      'pools/gpu/kubelet.yaml': pods(70),
      'clusters/production.yaml': cluster(', maxChange: "100%"'),
    },
    message: 'Follow nobody',
  });
  await says(production, new RegExp(`of ${alone.slice(0, 12)}, staging proves nothing of gpu`));
  const release = { [RELEASE_ANNOTATION]: commitRelease(alone, '2026-11-21T12:00:00Z', 'staging goes') };
  await production.kube.mergePatch<KubeletSource>({ resource: KUBELET_SOURCES }, SOURCE_NAME, {
    metadata: { annotations: release },
  });
  await onCommit(production, alone);
  await noted(production, alone, /settled \(released by somebody: staging goes; nobody had proven what gpu gets\)/);
});

it('where it need not be, production says what staging proves nothing of, and goes on', async () => {
  await using worlds = await pair('');
  const { staging, production } = worlds;
  let said = '';
  const gpu = await staging.git.commit({ files: { 'pools/gpu/kubelet.yaml': pods(60) }, message: 'GPU' });
  await production.until('in force', ({ source }) => {
    if (/"pool":"gpu"/.test(source.following)) said = source.following;
    return source.commit === gpu;
  });
  assert.match(said, /"isHeld":false/);
  assert.deepEqual(awaitedApprovals((await poolOf(production, 'gpu'))?.status), []);
});
