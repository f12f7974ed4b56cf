import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { commitRelease } from '#reconciler/reporting/notes/recorded-commits.ts';
import { RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { heavyCommits } from '../../security/support/heavy-commits.ts';
import { firstOf, startScenario } from '../support.ts';

/** Text of the files of a heavy commit, none of which the template has. */
function heavyFiles(name: string, most = Infinity): Readonly<Record<string, string>> {
  const heavy = heavyCommits().find(({ what }) => what === name) ?? assert.fail(name);
  const files = [...heavy.files].slice(0, most);
  return Object.fromEntries(files.map(([path, { bytes }]) => [path, Buffer.from(bytes).toString()]));
}

const gone = (files: Readonly<Record<string, string>>): Readonly<Record<string, null>> =>
  Object.fromEntries(Object.keys(files).map((path) => [path, null]));

describe('a commit that takes much to read', () => {
  it('is refused where it goes beyond the limits, with a note, and the next one comes into force', async () => {
    await using scenario = await startScenario(undefined, undefined, { readsInThread: true });
    const { world } = scenario;
    const files = heavyFiles('one large layer in all pools', 30);
    const heavy = await world.git.commit({ files, message: 'Give all pools a large layer' });
    const { source } = await world.until('the refusal', (view) => view.source.refusedCommit === heavy);
    assert.equal(source.refusedReason, 'too-large');
    assert.match(source.refusedBecause, /have more than 4096 KiB together/);
    await world.until(
      'the note',
      async () => (await world.git.readNotes(world.notesRef)).get(heavy)?.includes('refused') === true,
    );
    const restarts = scenario.restarts();
    await scenario.settledOn(await world.git.commit({ files: gone(files), message: 'Take it back' }));
    assert.deepEqual(scenario.restarts(), restarts);
  });

  it('is refused where three processes in a row ended while they read it, and no other commit is', async () => {
    await using scenario = await startScenario(undefined, undefined, { readsInThread: true });
    const { world } = scenario;
    const files = heavyFiles('unknown fields up to the limit', 8);
    const heavy = await world.git.commit({ files, message: 'Push what takes long' });
    const reads = ({ status }: KubeletSource): boolean => status?.reading?.startsWith(heavy) === true;
    await firstOf<KubeletSource>(world, KUBELET_SOURCES, reads);
    // An orderly end blames nobody: the next process begins again.
    await world.restartReconciler(async () => {
      const { status } = (await world.kube.get<KubeletSource>({ resource: KUBELET_SOURCES }, SOURCE_NAME)) ?? {};
      assert.equal(status?.reading, undefined);
    });
    for (const mark of [heavy, `${heavy} 2`, `${heavy} 3`]) {
      await firstOf<KubeletSource>(world, KUBELET_SOURCES, ({ status }) => status?.reading === mark);
      await world.restartReconciler(undefined, true);
    }
    const { source } = await world.until('the refusal', (view) => view.source.refusedCommit === heavy);
    assert.equal(source.refusedReason, 'ended-the-reconciler');
    assert.equal(source.reading, '');
    // Neither does the process after that read it.
    await world.restartReconciler();
    await world.until('the refusal', (view) => view.source.refusedCommit === heavy && view.source.reading === '');

    const release = commitRelease(heavy, toTimestamp(Date.now()));
    const annotations = { [RELEASE_ANNOTATION]: release };
    await world.kube.mergePatch({ resource: KUBELET_SOURCES }, SOURCE_NAME, { metadata: { annotations } });
    // It is read again, and counts anew: whoever ends it thrice more has it refused again, by the same release as well.
    for (const mark of [heavy, `${heavy} 2`, `${heavy} 3`]) {
      await firstOf<KubeletSource>(world, KUBELET_SOURCES, ({ status }) => status?.reading === mark);
      await world.restartReconciler(undefined, true);
    }
    await world.until('another refusal', (view) => view.source.refusedCommit === heavy && view.source.reading === '');
    const again = { [RELEASE_ANNOTATION]: commitRelease(heavy, toTimestamp(Date.now() + 1000), 'once more') };
    await world.kube.mergePatch({ resource: KUBELET_SOURCES }, SOURCE_NAME, { metadata: { annotations: again } });
    await world.until(
      'what is read to the end',
      (view) =>
        view.source.refusedReason !== 'ended-the-reconciler' &&
        view.source.reading === '' &&
        (view.source.commit === heavy || view.source.refusedCommit === heavy),
    );
    await scenario.settledOn(await world.git.commit({ files: gone(files), message: 'Take it back' }));
  });
});
