import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { GitError } from '#reconciler/git/errors.ts';
import { formatDisplacedNotes } from '#reconciler/reporting/notes/displaced-notes.ts';
import { readSourceState, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { type Kube, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { note } from '../../reconciler/reporting/forge/notes.ts';
import {
  AFTER,
  BEFORE,
  beginStory,
  type Chapter,
  isSettledOn,
  NODES,
  type Process,
  settledOnce,
  type StartOptions,
  type Story,
} from '../../support/takeover/story.ts';
import { column } from '../../support/columns.ts';

let chapter: Chapter;
before(async () => {
  chapter = await settledOnce();
});

const sourceIn = ({ cluster }: Story): KubeletSource | undefined => cluster.objects.get(KUBELET_SOURCES, SOURCE_NAME);
const recordIn = (story: Story): SourceState => readSourceState(sourceIn(story) ?? null);
const isReady = (source: KubeletSource | undefined): boolean =>
  source?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

/** A new leader of a fleet that has settled, and its end. */
async function led(
  { prepare, ...options }: StartOptions & { readonly prepare?: (story: Story) => void },
  see: (story: Story, process: Process) => Promise<void>,
): Promise<void> {
  const story = await beginStory(NODES, chapter);
  prepare?.(story);
  const process = story.start('next', options);
  await see(story, process);
  process.replica.stop();
  await story.tick();
  await process.replica.ended;
}
const ticks = async (story: Story, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1) await story.tick();
};

describe('the record of the commit in force', () => {
  it('stays Ready while a new leader has not read the branch yet', async () => {
    const answer = Promise.withResolvers<undefined>();
    const prepare = ({ repository: { source } }: Story): void => {
      const { resolve } = source;
      Object.assign(source, { resolve: (signal: AbortSignal) => answer.promise.then(() => resolve(signal)) });
    };
    await led({ prepare }, async (story, { replica }) => {
      await story.until('it leads', replica.isLeader);
      await ticks(story, 200);
      const isWritten = (): boolean => story.cluster.written.some(({ resource }) => resource === KUBELET_SOURCES);
      assert.ok(isReady(sourceIn(story)));
      assert.equal(isWritten(), false);
      answer.resolve(undefined);
      const next = story.repository.commit(...AFTER);
      await story.until('it has read it', () => recordIn(story).commit === next);
    });
  });

  it('names the folder that is followed', async () => {
    await led({ path: 'clusters/demo' }, async (story) => {
      await story.until('it says so', () => sourceIn(story)?.status?.path === 'clusters/demo');
    });
  });

  it('is made again with what it said where it is deleted while a rollout goes on', async () => {
    await led({}, async (story) => {
      const first = recordIn(story).commit;
      const second = story.repository.commit(...AFTER);
      await story.until('the commit is in force', () => recordIn(story).commit === second);
      story.cluster.objects.remove(KUBELET_SOURCES, SOURCE_NAME);
      await story.until('it settles', () => isSettledOn(story, second, AFTER));
      assert.deepEqual(column(JSON.parse(recordIn(story).history) as { readonly oid: string }[], 'oid'), [
        second,
        first,
      ]);
    });
  });

  it('keeps the last words on displaced commits while git is away, whoever leads', async () => {
    const oid = 'e'.repeat(40);
    const displaced = formatDisplacedNotes([note('superseded', [], { commit: oid })], { stands: () => false });
    const prepare = ({ cluster, repository }: Story): void => {
      cluster.objects.patch(KUBELET_SOURCES, SOURCE_NAME, { status: { displaced } });
      const resolve = () => Promise.reject(new GitError('GIT_UNREACHABLE', 'no answer'));
      Object.assign(repository.source, { resolve });
    };
    await led({ prepare }, async (story) => {
      await story.until('git fails', () => recordIn(story).failure !== '');
      await ticks(story, 10);
      await story.until('they are written', () => (story.repository.notes.get(oid) ?? '') !== '');
      await story.until('and are kept no longer', () => recordIn(story).displaced === '');
    });
  });

  it('keeps no node from its config where it may not be written, and is written as soon as it may', async () => {
    let refused = 0;
    let refuses = true;
    const network = (kube: Kube): Kube => ({
      ...kube,
      mergePatch(place, ...all) {
        if (place.resource !== KUBELET_SOURCES || !refuses) return kube.mergePatch(place, ...all);
        refused += 1;
        return Promise.reject(new KubeError('KUBE_FORBIDDEN', 'the server says no'));
      },
    });
    const prepare = ({ cluster }: Story): void => cluster.objects.remove(KUBELET_SOURCES, SOURCE_NAME);
    await led({ network, prepare }, async (story) => {
      const commit = recordIn(story).commit;
      const next = story.repository.commit(...BEFORE);
      const isDone = (): boolean =>
        story.cluster.written.some(({ resource, after }) => JSON.stringify([resource.plural, after]).includes(next));
      await story.until('it is refused', () => refused > 0 && commit === '');
      await story.until('nodes are told', isDone);
      refuses = false;
      await story.until('it is written', () => recordIn(story).commit === next);
    });
  });
});
