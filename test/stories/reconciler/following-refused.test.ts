import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TRUST_ALL_COMMITS, type CommitTrust } from '#reconciler/git/trust/commit-trust.ts';
import { commitRelease } from '#reconciler/reporting/notes/recorded-commits.ts';
import { RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import { untrusted } from '#reconciler/policy/commit-snapshot.ts';
import { type KubeletSource, type KubeletSourceStatus, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { commit as commitOf } from '../../support/fleet.ts';
import { AFTER, BEFORE, beginStory, NODES, settledOnce, type Story } from '../../support/takeover/story.ts';

const MINUTE = 60_000;

const status = ({ cluster }: Story): KubeletSourceStatus => {
  const source: KubeletSource | undefined = cluster.objects.get(KUBELET_SOURCES, SOURCE_NAME);
  return source?.status ?? {};
};

async function pass(story: Story, ms: Millis, look: () => void = () => undefined): Promise<void> {
  const until = story.clock.now() + ms;
  while (story.clock.now() < until) {
    await story.tick();
    look();
  }
}

/** A cluster that follows staging, and what it is to have next. */
async function following(
  maxChange: Amount = '100%',
): Promise<{ readonly story: Story; readonly first: string; settle(): string }> {
  const story = await beginStory(NODES, await settledOnce());
  const { repository } = story;
  repository.follows = { clusters: ['staging'], settledFor: '30s' };
  const { repo } = commitOf('', ...BEFORE);
  const { follows } = repository;
  const first = repository.commitRepo({ ...repo, cluster: { ...repo.cluster, maxChange, follows } });
  const settle = (): string => {
    const next = repository.commit(...AFTER);
    repository.others.set('staging', new Map([[next, 'settled']]));
    return next;
  };
  return { story, first, settle };
}

it('a commit that limits refuse stays refused on every screen until another one comes, over a restart as well', async () => {
  const { story, first, settle } = await following(0);
  const { repository } = story;
  const one = story.start('one');
  await story.until('in force', () => status(story).commit === first);
  const next = settle();
  const isRefused = (): boolean => status(story).refused?.commit === next;
  await story.until('refused', isRefused);
  await pass(story, MINUTE, () => assert.ok(isRefused(), 'at every look'));
  one.mortality.die();
  story.start('two');
  await pass(story, MINUTE, () => assert.ok(isRefused(), 'after a restart'));
  const { conditions = [], commit } = status(story);
  const said = conditions.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`);
  assert.deepEqual(said, [
    'Ready False CommitRefused',
    'Reconciling False CommitRefused',
    'Stalled True CommitRefused',
    'Following True Current',
  ]);
  assert.equal(commit, first);
  assert.match(repository.notes.get(next) ?? '', /^demo: refused \(it would give 5 of 6 nodes/);

  const { notes } = repository.followed;
  const away = { notes: () => Promise.reject(new Error('away')) };
  Object.assign(repository.followed, away);
  await pass(story, MINUTE, () => assert.ok(isRefused(), 'while nobody can see what staging says'));
  Object.assign(repository.followed, { notes });
  repository.others.set('staging', new Map([[next, 'halted']]));
  await story.until('no longer what waits for a person', () => !isRefused());
});

it('a commit whose signer is not trusted comes into force once it is', async () => {
  const { story, first, settle } = await following();
  let strangers = '';
  const trust: CommitTrust = {
    ...TRUST_ALL_COMMITS,
    judge: (commit) =>
      Promise.resolve(
        commit.oid === strangers ? untrusted('is of a key that is not trusted') : { verdict: 'not-required' },
      ),
  };
  story.start('one', { trust });
  await story.until('in force', () => status(story).commit === first);
  const next = (strangers = settle());
  await story.until('refused', () => status(story).refused?.commit === next);
  await pass(story, MINUTE, () => assert.equal(status(story).refused?.commit, next));
  strangers = '';
  await story.until('in force', () => status(story).commit === next);
});

it('a release of a commit that is to be read once more lets it past no cluster that is followed; one with a reason does', async () => {
  const { story, first, settle } = await following();
  const { repository, cluster } = story;
  story.start('one');
  await story.until('in force', () => status(story).commit === first);
  const next = settle();
  repository.others.set('staging', new Map([[next, 'halted']]));
  const release = (because?: string): void => {
    const annotations = { [RELEASE_ANNOTATION]: commitRelease(next, '2026-11-21T12:00:00Z', because) };
    cluster.objects.patch(KUBELET_SOURCES, SOURCE_NAME, { metadata: { annotations } });
  };
  release();
  await pass(story, MINUTE, () => assert.equal(status(story).commit, first));
  release('staging is gone');
  await story.until('let through', () => status(story).commit === next);
});
