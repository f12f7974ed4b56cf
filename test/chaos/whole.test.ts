import assert from 'node:assert/strict';
import { after, before, it, type TestContext } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { controlPlaneSkipReason } from '../cluster/support/binaries.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { BASE, baseFile, fleetFiles } from '../support/fleet-process/repository.ts';
import { readHistory } from './support/etcd-history.ts';
import { checkHistory } from './support/check-history.ts';
import { noteHistory } from './support/notes.ts';
import { ALLOWED, CLUSTER, MAX_UNAVAILABLE, NODES, POOLS, SETTLED, type Site, startSite } from './support/site.ts';
import { apiServerKilled, etcdSlow, gitFlapping, leaderKilled, type ChaosFault } from './support/faults.ts';

const skip = await controlPlaneSkipReason();

/**
 * Faults of everything around the reconciler, and of itself, in the middle of rollouts over 500 simulated nodes. Judged by etcd's
 * own history of every write, by git's history of notes, and by the Events that are there in the end.
 */
describeOrSkip('a rollout over 500 nodes converges, and nothing is lost or done twice', { skip }, () => {
  let site: Site;
  let maxPods = 100;
  const commits: string[] = [];

  before(async () => {
    site = await startSite();
    commits.push(await site.fleet.ask('commit', { files: fleetFiles(POOLS, maxPods, MAX_UNAVAILABLE) }));
    site.startReplica('a');
    site.startReplica('b');
    await site.settled(commits[0] ?? '', performance.now());
    await site.noted(commits);
  });

  after(() => site?.stop());

  async function through(t: TestContext, trouble: ChaosFault): Promise<void> {
    const began = performance.now();
    const commit = await site.fleet.ask('commit', { files: { [BASE]: baseFile((maxPods += 1)) } });
    commits.push(commit);
    await site.underWay(commit);
    const enough = new AbortController();
    const troubled = trouble(site, enough.signal);
    troubled.catch(() => undefined);
    try {
      const seconds = await site.settled(commit, began);
      enough.abort();
      t.diagnostic(`${NODES} nodes in ${seconds.toFixed(0)} s, struck ${await troubled} times`);
    } finally {
      enough.abort();
      await troubled;
    }
    // It comes a moment later than the rest, or a while where its author has just been killed.
    await site.noted(commits);
  }

  it('while the API server is killed and comes back', (t) => through(t, apiServerKilled));
  it('while etcd is slow', (t) => through(t, etcdSlow));
  it('while the git server comes and goes', (t) => through(t, gitFlapping));
  it('while whoever leads is killed every few seconds', (t) => through(t, leaderKilled));

  it('by etcd’s history: every node was told each config once, and no budget was ever exceeded', async (t) => {
    const history = await readHistory<KubeletNode>(site.cluster.etcd.url, '/registry/kubelet-gitops.dev/kubeletnodes/');
    const judged = checkHistory(history, ALLOWED);
    t.diagnostic(
      `${history.length} writes: ${judged.specWrites} assignments, ${judged.statusWrites} reports; ` +
        `at most ${judged.mostAtOnce} nodes of a pool at once, ${ALLOWED} allowed`,
    );
    assert.deepEqual(judged.wrongs.slice(0, 10), []);
    assert.equal(judged.specWrites, commits.length * NODES);
    assert.deepEqual(
      [...judged.assignments.values()],
      Array.from({ length: commits.length * POOLS }, () => NODES / POOLS),
    );
    assert.equal(judged.trials.size, commits.length * NODES);
  });

  it('by git’s history: every commit has its note, which never said the same again', async (t) => {
    await site.stopReplicas();
    const notes = await noteHistory(site.gitDirectory, CLUSTER);
    t.diagnostic([...notes.values()].map((texts) => texts.length).join(', ') + ' texts of the notes');
    assert.deepEqual([...notes.keys()].toSorted(), commits.toSorted());
    for (const [commit, texts] of notes) {
      assert.equal(new Set(texts).size, texts.length, `the note of ${commit} said something again`);
      assert.match(texts.at(-1) ?? '', SETTLED, `the last word on ${commit}`);
    }
  });

  it('by the Events that are there: none tells the same of the same twice', async (t) => {
    const answer = await site.cluster.request('GET', '/api/v1/events');
    const { items } = answer.json() as {
      readonly items: readonly { involvedObject: { name: string }; reason: string; message: string }[];
    };
    t.diagnostic(`${items.length} Events`);
    // Its words do not say in which rollout nodes wait, and may be the same in each.
    const waits = items
      .filter(({ reason }) => reason === 'RateLimited')
      .map(({ involvedObject }) => involvedObject.name);
    for (const [pool, { length }] of Map.groupBy(waits, (name) => name)) {
      assert.ok(length <= commits.length, `${pool}: ${length} times in ${commits.length} rollouts`);
    }
    const told = items
      .filter(({ reason }) => reason !== 'RateLimited')
      .map(({ involvedObject, reason, message }) => `${reason} ${involvedObject.name}: ${message}`);
    assert.deepEqual(
      told.filter((each, index) => told.indexOf(each) !== index),
      [],
    );
  });
});
