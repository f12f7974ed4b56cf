import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeletSource } from '#shared/contract/api/kubelet-source.ts';
import { CONFIG_MAPS, KUBELET_NODES, KUBELET_POOLS, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { startUnreliableGit } from '../../support/unreliable-proxy.ts';
import { until } from '../../support/until.ts';
import { configOf, firstOf, type Scenario, settled, startScenario } from '../support.ts';

// One world, in which each of them makes good again what it did wrong: to start one costs more than most of what happens in it.
const isCalled =
  (type: string, reason?: string) =>
  ({ status }: KubeletPool | KubeletSource): boolean =>
    status?.conditions?.some(
      (each) => each.type === type && each.status === 'True' && (reason ?? each.reason) === each.reason,
    ) === true;

describe('when something is away or wrong', () => {
  let git: Awaited<ReturnType<typeof startUnreliableGit>>;
  let scenario: Scenario;
  before(async () => {
    git = await startUnreliableGit();
    scenario = await startScenario(undefined, git);
  });
  after(async () => {
    await scenario.world.stop();
    await git.stop();
  });

  it('git away: everything stays, status says since when, and the next commit is taken up when it is back', async () => {
    const { world } = scenario;
    const restarts = scenario.restarts();
    git.setReachable(false);
    // The word that docs/operate.md has a line for. What was under way may have failed otherwise.
    const view = await world.until('git fails', ({ source }) => source.failure.startsWith('GIT_UNREACHABLE: '));
    assert.match(view.source.failingSince, /^\d{4}-\d\d-\d\dT/);
    git.setReachable(true);
    await world.until('git is back', ({ source }) => source.failure === '');
    assert.deepEqual(scenario.restarts(), restarts);
    await scenario.settledOn(await scenario.change('gpu', { maxPods: 60 }));
  });

  it('a rewritten branch is refused, by name, and nothing changes', async () => {
    const { world } = scenario;
    const configBefore = configOf(await world.status(), 'gpu');
    const head = await scenario.change('gpu', { maxPods: 61 });
    await scenario.settledOn(head);
    const config = configOf(await world.status(), 'gpu');
    const stranger = await world.git.commit({ files: scenario.files, message: 'Another history' }, 'stranger');
    await world.git.setRef('refs/heads/main', stranger);
    const view = await world.until('refused', ({ source }) => source.refusedCommit === stranger);
    assert.match(view.source.refusedBecause, /rewritten/);
    assert.equal(configOf(view, 'gpu'), config);
    assert.notEqual(config, configBefore);
    // Whoever waits for their push hears of it, although every node is well.
    await world.until('no pool is Ready', ({ pools }) => pools.every(isCalled('Stalled', 'CommitRefused')));
    const refused = await firstOf<KubeletSource>(world, KUBELET_SOURCES, ({ status }) => status?.refused !== undefined);
    assert.deepEqual(
      [refused.status?.lastAttemptedCommit, refused.status?.refused?.commit, refused.status?.commit],
      [stranger, stranger, head],
    );
    assert.ok(isCalled('Stalled', 'CommitRefused')(refused));
    await world.git.setRef('refs/heads/main', head);
    await firstOf<KubeletSource>(
      world,
      KUBELET_SOURCES,
      (source) => source.status?.lastAttemptedCommit === head && isCalled('Ready', 'InForce')(source),
    );
    await world.until('the branch is as it was', ({ source }) => source.refusedCommit === '');
    await world.until('they are Ready again', ({ pools }) => pools.every(isCalled('Ready')));
  });

  it('a commit that the branch is set back to keeps the note that says how it fared', async () => {
    const { world } = scenario;
    const noteOn = async (commit: string): Promise<string> =>
      (await world.git.readNotes(world.notesRef)).get(commit) ?? '';
    const noted = (commit: string, outcome: string) =>
      world.until(`note: ${outcome}`, async () => (await noteOn(commit)).startsWith(`demo: ${outcome}`));
    const earlier = await scenario.change('gpu', { maxPods: 62 });
    await scenario.settledOn(earlier);
    await noted(earlier, 'settled');
    const note = await noteOn(earlier);
    const head = await scenario.change('gpu', { maxPods: 63 });
    await scenario.settledOn(head);
    await world.git.setRef('refs/heads/main', earlier);
    await world.until('refused', ({ source }) => source.refusedCommit === earlier);
    // What is written after it shows that there was time to write it.
    const stranger = await world.git.commit({ files: scenario.files, message: 'Another history' }, 'stranger-2');
    await world.git.setRef('refs/heads/main', stranger);
    await noted(stranger, 'refused');
    assert.equal(await noteOn(earlier), note);
    await world.git.setRef('refs/heads/main', head);
    await world.until('the branch is as it was', ({ source }) => source.refusedCommit === '');
  });

  it('an emptied repository is refused', async () => {
    const { world, files } = scenario;
    const restarts = scenario.restarts();
    const none = Object.fromEntries(Object.keys(files).map((path) => [path, null]));
    const commit = await world.git.commit({ files: { ...none, 'README.md': 'gone' }, message: 'Empty' });
    await world.until('refused', ({ source }) => source.refusedCommit === commit);
    assert.deepEqual(scenario.restarts(), restarts);
    await scenario.settledOn(await world.git.commit({ files, message: 'Fill it again' }));
  });

  it('two pools of one priority on a node: it is left as it is, and status says which pools', async () => {
    const { world, files } = scenario;
    const restarts = scenario.restarts();
    const rival = (files['pools/gpu/pool.yaml'] ?? '').replace('./kubelet.yaml', '../gpu/kubelet.yaml');
    await world.git.commit({ files: { 'pools/rival/pool.yaml': rival }, message: 'A rival' });
    const view = await world.until('conflict', ({ source }) => /gpu-1/.test(source.findings));
    assert.match(view.source.findings, /node gpu-1 is left as it is: gpu and rival select it with the same priority/);
    assert.deepEqual(scenario.restarts(), restarts);
    const without = await world.git.commit({ files: { 'pools/rival/pool.yaml': null }, message: 'No rival' });
    await world.until(
      'no conflict',
      ({ source, pools }) => source.commit === without && source.findings === '' && pools.length === 3,
    );
  });

  it('a deleted config source is made again under the same name, and no kubelet restarts', async () => {
    const { world } = scenario;
    const restarts = scenario.restarts();
    const place = { resource: CONFIG_MAPS, namespace: 'kubelet-gitops' };
    const name = configOf(await world.status(), 'general') ?? '';
    const uid = (await world.kube.get(place, name))?.metadata.uid ?? '';
    await world.kube.delete(place, name, { uid });
    let again: string | undefined;
    await until('it to be made again', async () => {
      again = (await world.kube.get(place, name))?.metadata.uid;
      return again !== undefined && again !== uid;
    });
    await world.until('the nodes hear of it', ({ nodes }) =>
      nodes.filter(({ spec }) => spec?.pool === 'general').every(({ spec }) => spec?.configSource?.uid === again),
    );
    await scenario.settledOn(await scenario.change('gpu', { maxPods: 62 }));
    const { 'gpu-1': _, ...others } = scenario.restarts();
    const { 'gpu-1': __, ...othersBefore } = restarts;
    assert.deepEqual(others, othersBefore);
  });

  it('the API server restarted in mid-rollout: the rollout goes on', async () => {
    const { world } = scenario;
    // A trial is over in a moment: it is heard of, not looked for.
    const underWay = firstOf<KubeletNode>(world, KUBELET_NODES, ({ status }) => status?.phase === 'Trial');
    const commit = await scenario.change('general', { maxPods: 133 });
    await underWay;
    await world.api.restart();
    await scenario.settledOn(commit);
  });

  it('a reconciler that starts again repeats nothing', async () => {
    const { world } = scenario;
    const earlier = { view: await world.status(), restarts: scenario.restarts() };
    await world.restartReconciler();
    const commit = await scenario.change('gpu', { maxPods: 63 });
    const view = await scenario.settledOn(commit);
    const generations = (of: typeof view): readonly unknown[] =>
      of.nodes
        .filter(({ spec }) => spec?.pool === 'general')
        .map(({ metadata }) => [metadata.name, metadata.generation]);
    assert.deepEqual(generations(view), generations(earlier.view));
    assert.equal(scenario.restarts()['worker-1'], earlier.restarts['worker-1']);
  });

  it('all our objects lost: they are made again from git, and no kubelet restarts', async () => {
    const { world } = scenario;
    const restarts = scenario.restarts();
    for (const resource of [KUBELET_NODES, KUBELET_POOLS]) {
      for (const { metadata } of (await world.kube.list({ resource })).items) {
        await world.kube.delete({ resource }, metadata.name, { uid: metadata.uid ?? '' });
      }
    }
    const remade = await world.until(
      'all of it there again',
      (view) =>
        view.pools.length === 3 &&
        view.nodes.length === 4 &&
        settled(view) &&
        view.nodes.every(({ spec }) => spec?.configSource !== undefined),
    );
    assert.equal(remade.nodes.length, 4);
    assert.deepEqual(scenario.restarts(), restarts);
  });

  it('an agent that starts again restarts no kubelet', async () => {
    const restarts = scenario.restarts();
    await scenario.world.nodes.get('worker-1')?.restartAgent();
    await scenario.settledOn(await scenario.change('gpu', { maxPods: 64 }));
    assert.equal(scenario.restarts()['worker-1'], restarts['worker-1']);
  });
});
