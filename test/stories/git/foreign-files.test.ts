import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { REPOSITORY } from '#sandbox/git-server/http-backend.ts';
import { startGitServer } from '#sandbox/git-server/server.ts';
import { openRepository } from '#cli/revision/local-repository.ts';
import { readRevision } from '#cli/revision/read-revision.ts';
import { run } from '../../cli/support/run.ts';
import { rawRepository } from '../../reconciler/git/support/repository.ts';
import { foreignEntries, treeWith } from '../../support/foreign-files.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { startScenario } from '../support.ts';

/** The limit of entries is 20,000. */
const MANY = 12_500;

async function startServer() {
  const root = await mkdtemp(join(tmpdir(), 'kubelet-gitops-'));
  const git = await startGitServer({ root });
  return {
    root,
    git,
    [Symbol.asyncDispose]: async () => {
      await git.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

describe('a repository of 25,000 files that are nobody’s', () => {
  const directory = temporaryDirectory();

  it('settles, without a word about them', async () => {
    await using server = await startServer();
    await using scenario = await startScenario(undefined, server.git, { readsInThread: true });
    const { kube } = scenario.world;
    const gitdir = join(server.root, REPOSITORY);
    const repository = rawRepository(gitdir);
    const restarts = scenario.restarts();
    const tip = await scenario.change('general', { maxPods: 99 });
    const tree = await treeWith(repository, gitdir, tip, await foreignEntries(repository, MANY));
    const commit = await repository.commit({ tree, parents: [tip] });
    await repository.setRef('refs/heads/main', commit);
    await scenario.settledOn(commit);
    assert.notDeepEqual(scenario.restarts(), restarts);
    const source = await kube.get<KubeletSource>({ resource: KUBELET_SOURCES }, SOURCE_NAME);
    const ready = source?.status?.conditions?.find(({ type }) => type === 'Ready');
    assert.deepEqual([ready?.status, ready?.reason, source?.status?.findings], ['True', 'InForce', undefined]);

    const checkout = join(directory, 'checkout');
    await promisify(execFile)('git', ['clone', '-q', gitdir, checkout]);
    assert.deepEqual(await run('validate', checkout), { code: 0, out: '3 pools: nothing found\n', err: '' });
    const revision = await readRevision(await openRepository(checkout), 'HEAD');
    assert.deepEqual((await run('plan', '--repo', checkout, '--base', 'HEAD~1')).code, 0);
    assert.ok(revision.files.size < 40);
  });
});
