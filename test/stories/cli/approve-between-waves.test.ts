import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { writeAddresses } from '#sandbox/demo/addresses.ts';
import type { StatusView } from '#cli/status/render.ts';
import { awaitedApprovals } from '#shared/contract/api/approval.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { EVENTS } from '#shared/kube/kube.ts';
import { run } from '../../cli/support/run.ts';
import { noteProblems } from '../../support/note-schema.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { phaseOf, type Scenario, settled, startScenario } from '../support.ts';

const PATH = 'pools/general/pool.yaml';
const generalIn = ({ pools }: StatusView) => pools.find(({ metadata }) => metadata.name === 'general');
const waitsIn = (view: StatusView) => awaitedApprovals(generalIn(view)?.status)[0];

describe('a rollout that waits for a person', () => {
  let scenario: Scenario;
  const directory = temporaryDirectory();
  before(async () => {
    scenario = await startScenario();
    await writeAddresses(scenario.world, directory);
  });
  after(() => scenario.world.stop());

  const cli = (...argv: readonly string[]) => run(...argv, '--kubeconfig', join(directory, 'kubeconfig'));
  const note = async (commit: string): Promise<string> =>
    (await scenario.world.git.readNotes(scenario.world.notesRef)).get(commit) ?? '';
  const reasons = (): readonly string[] =>
    (scenario.world.api.store.list(EVENTS) as readonly (KubeObject & { readonly reason?: string })[]).flatMap(
      ({ reason = '' }) => (reason === 'WaitsForApproval' || reason === 'Approved' ? [reason] : []),
    );

  it('says so on the command line and on the commit, and goes on when a person approves it', async () => {
    const { world, files } = scenario;
    const text = (files[PATH] ?? '').replace(/^ {2}rollout:\n(?: {4}.*\n| *#.*\n)*/m, '').trimEnd();
    const pool = `${text}\n  rollout:\n    maxUnavailable: 3\n    canary: {nodes: 1, pause: true}\n`;
    await scenario.settledOn(await world.git.commit({ files: { [PATH]: pool }, message: 'Ask before the others' }));
    const idle = await cli('approve', 'general');
    assert.deepEqual([idle.code, idle.out], [1, 'general: nothing waits for an approval\n']);

    const restarts = scenario.restarts();
    const touched = (): number =>
      Object.entries(scenario.restarts()).filter(([name, starts]) => starts !== restarts[name]).length;
    const commit = await scenario.change('general', { maxPods: 155 });
    const paused = await world.until(
      'it waits',
      (view) => view.source.commit === commit && waitsIn(view) !== undefined,
    );
    const { configName = '', since = '' } = waitsIn(paused) ?? {};
    const line = `${configName} waits after wave canary for a person since ${since}: approve it with kubelet-gitops approve general`;
    assert.equal(touched(), 1);
    const status = await cli('status', '--pool', 'general');
    assert.equal(status.code, 1);
    assert.ok(status.out.replaceAll(/\s+/g, ' ').includes(line), status.out);
    const why = await cli('status', '--why', '--pool', 'general');
    assert.equal(why.out.match(/\bapproval\b/g)?.length, 2, why.out);
    await world.until('the note says so', async () => (await note(commit)).includes(line));

    const other = await cli('approve', 'general', '--config', 'general-0000000000');
    assert.equal(other.code, 1);
    const approved = await cli('approve', 'general', '--config', configName);
    assert.deepEqual([approved.code, approved.err], [0, '']);
    const done = await world.until('the others to follow', (view) => view.source.commit === commit && settled(view));
    assert.equal(phaseOf(done, 'general'), 'Settled');
    assert.equal(touched(), 3);
    const [canary] = generalIn(done)?.status?.rollout?.waves ?? [];
    assert.ok(canary?.approvedAt !== undefined);
    await world.until('the note says who', async () => {
      const said = await note(commit);
      return said.startsWith('demo: settled') && said.includes('general: approved');
    });
    assert.match(await note(commit), /general: approved by \S+ at \S+Z, after wave canary/);
    const data = (await world.git.readNoteData(world.notesRef)).get(commit) ?? '';
    assert.deepEqual(noteProblems(data), []);
    await world.until('both Events', async () => reasons().length >= 2);
    assert.deepEqual(new Set(reasons()), new Set(['WaitsForApproval', 'Approved']));
    const over = await cli('approve', 'general');
    assert.equal(over.code, 1);
  });
});
