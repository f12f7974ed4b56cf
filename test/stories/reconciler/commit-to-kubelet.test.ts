import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CommitNote } from '#reconciler/reporting/notes/commit-note.ts';
import { jsonOf, noteProblems } from '../../support/note-schema.ts';
import { configOf, GPU, phaseOf, type Scenario, settled, startScenario } from '../support.ts';

const DEADLY = { maxOpenFiles: 20 };

// One world, and each begins where the one before ended: to start one costs more than most of what happens in it.
describe('from a commit to the kubelets', () => {
  let scenario: Scenario;
  before(async () => {
    scenario = await startScenario();
  });
  after(() => scenario.world.stop());

  it('a commit that changes no meaning restarts nothing and makes no new config', async () => {
    const earlier = { config: configOf(await scenario.world.status(), 'general'), restarts: scenario.restarts() };
    const path = 'pools/general/kubelet.yaml';
    const commit = await scenario.world.git.commit({
      files: { [path]: `# a comment\n${scenario.files[path]}` },
      message: 'Comment',
    });
    const view = await scenario.settledOn(commit);
    assert.deepEqual({ config: configOf(view, 'general'), restarts: scenario.restarts() }, earlier);
  });

  it('a config that kills kubelets reaches maxUnavailable nodes, is taken back there, and halts the pool until it is reverted', async () => {
    const { world } = scenario;
    const restarts = scenario.restarts();
    const bad = await scenario.change('general', DEADLY);
    const halted = await world.until(
      'halted, and the node back on what it had',
      (view) =>
        phaseOf(view, 'general') === 'Halted' &&
        view.source.commit === bad &&
        view.nodes.every(({ status }) => status?.phase === 'Idle'),
    );
    const failed = halted.nodes.filter(({ status }) => (status?.rejected ?? []).length > 0);
    assert.equal(failed.length, 1);
    // How it ended is known where the agent looked before its next run.
    assert.match(
      failed[0]?.status?.error?.message ?? '',
      /ended \d+ times by itself(?: \(last exit: exit-code 1\))?\. .*The kubelet’s last error: “/,
    );
    const touched = Object.entries(scenario.restarts()).filter(([name, starts]) => starts !== restarts[name]);
    assert.deepEqual(
      touched.map(([name]) => name),
      [failed[0]?.metadata.name],
    );
    assert.match(await noteOn(scenario, bad, /^demo: halted/), new RegExp(`^${failed[0]?.metadata.name}: `, 'm'));

    const fallenBack = scenario.restarts();
    const good = await scenario.change('general', {});
    await scenario.settledOn(good);
    assert.deepEqual(scenario.restarts(), fallenBack, 'the revert restarts nobody: all run it already');
  });

  it('every node of a pool runs what was pushed, one node at a time, and the note on the commit says so', async () => {
    const { world } = scenario;
    const restarts = scenario.restarts();
    const commit = await scenario.change('general', { maxPods: 150 });
    await scenario.settledOn(commit);
    for (const name of ['worker-1', 'worker-2', 'worker-3']) {
      assert.equal(world.nodes.get(name)?.kubelet.running()?.['maxPods'], 150, name);
      assert.equal(scenario.restarts()[name], (restarts[name] ?? 0) + 1, `${name} restarted once`);
    }
    assert.equal(scenario.restarts()['gpu-1'], restarts['gpu-1'], 'the other pool was left alone');
    assert.match(await noteOn(scenario, commit, /^demo: settled/), /^demo: settled \(\d+ pools, \d+ nodes\)\n$/);
    const { pools } = jsonOf((await world.git.readNoteData(world.notesRef)).get(commit) ?? '') as Pick<
      CommitNote,
      'pools'
    >;
    assert.equal(pools.find(({ name }) => name === 'general')?.counts?.updated, 3);
  });

  it('a pool that validation refuses keeps what it has, says file and line, and holds up no other pool', async () => {
    const { world, files } = scenario;
    const restarts = scenario.restarts();
    const commit = await world.git.commit({
      files: {
        'pools/gpu/kubelet.yaml': `${files['pools/gpu/kubelet.yaml']}maxPodz: 3\n`,
        'pools/general/kubelet.yaml': (files['pools/general/kubelet.yaml'] ?? '').replace(
          'maxPods: 110',
          'maxPods: 120',
        ),
      },
      message: 'One good, one bad',
    });
    await scenario.settledOn(commit);
    assert.equal(world.nodes.get('worker-1')?.kubelet.running()?.['maxPods'], 120);
    assert.equal(scenario.restarts()['gpu-1'], restarts['gpu-1']);
    assert.match(
      await noteOn(scenario, commit, /partly-refused/),
      /pools\/gpu\/kubelet\.yaml:\d+:1: error unknown-field/,
    );
  });

  it('a node that joins gets its pool’s config, and one that changes its labels moves', async () => {
    const { world } = scenario;
    await world.addNode({ name: 'gpu-2', labels: GPU });
    const joined = (running: number): boolean => world.nodes.get('gpu-2')?.kubelet.running()?.['maxPods'] === running;
    await world.until('gpu-2 runs the gpu pool', (view) => joined(50) && settled(view));
    await world.nodes.get('gpu-2')?.relabel({ accelerator: 'none', 'node-role.kubernetes.io/worker': '' });
    await world.until('gpu-2 runs the general pool', (view) => joined(120) && settled(view));
  });

  it('a pool that leaves git gives its nodes their local config back, with one restart', async () => {
    const { world } = scenario;
    const starts = scenario.restarts()['gpu-1'] ?? 0;
    const gone = { 'pools/gpu/pool.yaml': null, 'pools/gpu/kubelet.yaml': null };
    // Without the pool the node would match no other one: the general pool leaves out nodes with an accelerator.
    const commit = await world.git.commit({ files: gone, message: 'No more gpu pool' });
    const view = await world.until(
      'no gpu pool',
      ({ source, pools }) => source.commit === commit && pools.length === 2,
    );
    assert.equal(world.nodes.get('gpu-1')?.kubelet.running()?.['maxPods'] ?? 110, 110);
    assert.equal(scenario.restarts()['gpu-1'], starts + 1);
    assert.equal(view.nodes.find(({ metadata }) => metadata.name === 'gpu-1')?.status?.active?.name, 'local');
  });
});

/** The note on a commit once it matches: notes follow the cluster at their own pace. */
async function noteOn(scenario: Scenario, commit: string, pattern: RegExp): Promise<string> {
  const read = async (): Promise<string> =>
    (await scenario.world.git.readNotes(scenario.world.notesRef)).get(commit) ?? '';
  await scenario.world.until(`note ${pattern.source}`, async () => pattern.test(await read()));
  const data = (await scenario.world.git.readNoteData(scenario.world.notesRef)).get(commit) ?? '';
  assert.deepEqual(noteProblems(data), [], 'as the schema has it');
  return read();
}
