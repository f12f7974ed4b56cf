import assert from 'node:assert/strict';
import { it } from 'node:test';
import { commitRelease } from '#reconciler/reporting/notes/recorded-commits.ts';
import { RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '#sandbox/sandbox.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../../support/until.ts';
import { PATIENCE_MS, phaseOf, settled } from '../support.ts';

const OURS = 'apiVersion: kubelet-gitops.dev/v1alpha1\n';
const layer = (fields: string): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${fields}`;
const POOL =
  `${OURS}kind: KubeletPool\nspec:\n  nodeSelector: {matchLabels: {role: general}}\n` +
  '  rollout: {maxUnavailable: 2, onFailure: {threshold: 1, action: halt}, soak: 0s}\n  trial: {duration: 200ms, startTimeout: 30s}\n';
const cluster = (spec: string): string => `${OURS}kind: ClusterConfig\nspec: {trial: {minDuration: 200ms}${spec}}\n`;
const pods = (count: number): string => layer(`maxPods: ${count}\n`);

const SETTLED_FOR_MS = 1_500;
const FOLLOWS = (names: string): string => `, follows: {clusters: [${names}], settledFor: ${SETTLED_FOR_MS}ms}`;

const FILES = {
  'pools/general/pool.yaml': POOL,
  'pools/general/kubelet.yaml': pods(110),
  'clusters/staging.yaml': cluster(''),
  'clusters/canary.yaml': cluster(FOLLOWS('staging')),
  'clusters/production.yaml': cluster(FOLLOWS('staging, canary')),
};

const world = (name: string, git?: Sandbox['git'], options: Partial<SandboxOptions> = {}): Promise<Sandbox> =>
  startSandbox({
    cluster: name,
    nodes: [{ name: `${name}-1`, labels: { role: 'general' } }],
    log: () => silentLog,
    pollMs: 100,
    ...(git && { git }),
    ...options,
  });

/** Three clusters of one repository: production follows both others, canary follows staging. */
async function three(): Promise<Record<'staging' | 'canary' | 'production', Sandbox> & AsyncDisposable> {
  const staging = await world('staging');
  const canary = await world('canary', staging.git);
  const production = await world('production', staging.git);
  const all = { staging, canary, production };
  const first = await staging.git.commit({ files: FILES, message: 'Begin' });
  for (const each of Object.values(all)) await onCommit(each, first);
  return {
    ...all,
    async [Symbol.asyncDispose]() {
      await production.stop();
      await canary.stop();
      await staging.stop();
    },
  };
}

const onCommit = (of: Sandbox, commit: string): Promise<unknown> =>
  of.until(`settled on ${commit.slice(0, 8)}`, (view) => settled(view) && view.source.commit === commit);

const inForce = async (of: Sandbox): Promise<string> => (await of.status()).source.commit;

it('a good commit goes through the chain, a bad one stops in staging, and its revert goes everywhere at once', async () => {
  await using worlds = await three();
  const { staging, canary, production } = worlds;
  const { git } = staging;

  const good = await git.commit({ files: { 'pools/general/kubelet.yaml': pods(120) }, message: 'Good' });
  await onCommit(staging, good);
  const settledAt = performance.now();
  await onCommit(canary, good);
  assert.ok(performance.now() - settledAt > SETTLED_FOR_MS - 500, 'not before staging had it for so long');
  const canaryAt = performance.now();
  await onCommit(production, good);
  assert.ok(performance.now() - canaryAt > SETTLED_FOR_MS - 500, 'not before canary had it for so long');

  const bad = await git.commit({
    files: { 'pools/general/kubelet.yaml': layer('maxOpenFiles: 20\n') },
    message: 'Bad',
  });
  await staging.until('halted', (view) => view.source.commit === bad && phaseOf(view, 'general') === 'Halted');
  await until(
    'the note of the halt',
    async () => /halted/.test((await git.readNotes(staging.notesRef)).get(bad) ?? ''),
    { withinMs: PATIENCE_MS, everyMs: 50 },
  );
  await new Promise((resolve) => setTimeout(resolve, 2 * SETTLED_FOR_MS));
  assert.deepEqual([await inForce(canary), await inForce(production)], [good, good]);
  for (const each of [canary, production]) assert.equal((await git.readNotes(each.notesRef)).get(bad), undefined);

  const revert = await git.commit({ files: { 'pools/general/kubelet.yaml': pods(120) }, message: 'Revert' });
  await Promise.all([staging, canary, production].map((each) => onCommit(each, revert)));
});

/** Staging and a production that follows it for so long that nothing ripens in a test. */
async function pair(
  settledFor = '1h',
  staged: Partial<SandboxOptions> = {},
): Promise<Record<'staging' | 'production', Sandbox> & AsyncDisposable> {
  const staging = await world('staging', undefined, staged);
  const production = await world('production', staging.git);
  const files = {
    ...FILES,
    'clusters/production.yaml': cluster(`, follows: {clusters: [staging], settledFor: ${settledFor}}`),
  };
  const first = await staging.git.commit({ files, message: 'Begin' });
  for (const each of [staging, production]) await each.until('in force', ({ source }) => source.commit === first);
  await onCommit(production, first);
  return {
    staging,
    production,
    async [Symbol.asyncDispose]() {
      await production.stop();
      await staging.stop();
    },
  };
}

const SOURCES = { resource: KUBELET_SOURCES };

const waits = async (of: Sandbox, why: RegExp): Promise<void> =>
  void (await of.until(`waits: ${why}`, ({ source }) => why.test(source.following)));

it('what settled in a cluster before comes back at once, past what waits', async () => {
  await using worlds = await pair();
  const { staging, production } = worlds;
  const { git } = staging;
  const first = await inForce(production);
  const change = await git.commit({ files: { 'pools/general/kubelet.yaml': pods(120) }, message: 'Change' });
  await onCommit(staging, change);
  await waits(production, new RegExp(`"next":{"oid":"${change}"`));
  assert.equal(await inForce(production), first);
  const revert = await git.commit({
    files: { 'pools/general/kubelet.yaml': pods(110), 'README.md': 'What happened\n' },
    message: 'Revert',
  });
  await onCommit(production, revert);
});

it('a revert comes back at once though other folders and clusters changed meanwhile, and the next change waits', async () => {
  await using worlds = await pair();
  const { staging, production } = worlds;
  const { git } = staging;
  const first = await inForce(production);
  const elsewhere = {
    'docs/example.yaml': 'a: 1\n',
    'clusters/staging.yaml': cluster(', maxChange: "90%"'),
  };
  const change = await git.commit({
    files: { 'pools/general/kubelet.yaml': pods(120), ...elsewhere },
    message: 'Change',
  });
  await onCommit(staging, change);
  await waits(production, new RegExp(`"next":{"oid":"${change}"`));
  assert.equal(await inForce(production), first);
  // Nobody has settled this one, neither here nor there: it is read as the first one here.
  const revert = await git.commit({ files: { 'pools/general/kubelet.yaml': pods(110) }, message: 'Revert' });
  await onCommit(production, revert);
  const other = await git.commit({ files: { 'base/more.yaml': pods(110) }, message: 'Change what all may read' });
  await waits(production, new RegExp(`"seen":\\[{"oid":"${other}"`));
  assert.equal(await inForce(production), revert);
});

it('where no node of staging proves anything, nothing is settled there, and a person may let it through', async () => {
  await using worlds = await pair('0s', { nodes: [] });
  const { staging, production } = worlds;
  const { git } = staging;
  const first = await inForce(production);
  const change = await git.commit({ files: { 'pools/general/kubelet.yaml': pods(120) }, message: 'Change' });
  await waits(production, new RegExp(`"oid":"${change}","note":"progressing"`));
  assert.equal(await inForce(production), first);
  const { conditions } = (await production.kube.get<KubeletSource>(SOURCES, SOURCE_NAME))?.status ?? {};
  const following = conditions?.find(({ type }) => type === 'Following');
  assert.match(
    following?.message ?? '',
    new RegExp(`^1 commit waits: staging says of ${change.slice(0, 12)}: progressing`),
  );
  assert.equal(conditions?.find(({ type }) => type === 'Ready')?.status, 'True', 'waiting is in order');

  const annotations = { [RELEASE_ANNOTATION]: commitRelease(change, '2026-11-21T12:00:00Z', 'staging has no nodes') };
  await production.kube.mergePatch<KubeletSource>(SOURCES, SOURCE_NAME, { metadata: { annotations } });
  await onCommit(production, change);
  await until(
    'a note with who and why',
    async () =>
      /released by somebody: staging has no nodes/.test((await git.readNotes(production.notesRef)).get(change) ?? ''),
    { withinMs: PATIENCE_MS, everyMs: 50 },
  );
});

it('where limits refuse the newest of two, the one that raises them goes first', async () => {
  await using worlds = await pair('1s');
  const { staging, production } = worlds;
  const { git } = staging;
  const own = (spec: string): string => cluster(`, ${spec}, follows: {clusters: [staging], settledFor: 1s}`);
  const strict = await git.commit({ files: { 'clusters/production.yaml': own('maxChange: 0') }, message: 'Strict' });
  await onCommit(production, strict);
  const seen = new Set<string>();
  let changed = '';
  await production.restartReconciler(async () => {
    await onCommit(
      staging,
      await git.commit({ files: { 'clusters/production.yaml': own('maxChange: "100%"') }, message: 'Raise' }),
    );
    changed = await git.commit({ files: { 'pools/general/kubelet.yaml': pods(120) }, message: 'Use' });
    await onCommit(staging, changed);
  });
  await production.until('both in force', ({ source }) => {
    seen.add(source.refusedReason);
    return source.commit === changed;
  });
  assert.ok(seen.has('changes-too-many'), 'the newest was tried first');
});

it('clusters that would wait for each other go on as before, and the commit that corrects this comes through', async () => {
  await using worlds = await three();
  const { staging, canary, production } = worlds;
  const { git } = staging;
  const first = await inForce(production);
  const inCircle = (of: Sandbox, commit: string): Promise<unknown> =>
    of.until('a circle', ({ source }) => source.commit === commit && /follows-circle/.test(source.findings));
  let pool = 110;
  const next = (files: Readonly<Record<string, string>>): Promise<string> =>
    git.commit({ files: { ...files, 'pools/general/kubelet.yaml': pods((pool += 1)) }, message: `${pool} pods` });
  const everywhere = async (commit: string): Promise<unknown> =>
    Promise.all([staging, canary, production].map((each) => onCommit(each, commit)));

  // Staging, which follows nobody, is to wait for whom waits for it.
  const begins = await next({ 'clusters/staging.yaml': cluster(FOLLOWS('production')) });
  await inCircle(staging, begins);
  await new Promise((resolve) => setTimeout(resolve, 2 * SETTLED_FOR_MS));
  assert.deepEqual([await inForce(canary), await inForce(production)], [first, first]);
  await everywhere(await next({ 'clusters/staging.yaml': cluster('') }));

  // Nothing is wrong with this one in staging.
  const passes = await next({ 'clusters/canary.yaml': cluster(FOLLOWS('production')) });
  const before = await inForce(production);
  await onCommit(staging, passes);
  await inCircle(canary, passes);
  await new Promise((resolve) => setTimeout(resolve, 2 * SETTLED_FOR_MS));
  assert.equal(await inForce(production), before);
  await everywhere(await next({ 'clusters/canary.yaml': cluster(FOLLOWS('staging')) }));
});
