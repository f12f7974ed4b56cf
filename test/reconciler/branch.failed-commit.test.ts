import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createBranch } from '#reconciler/branch.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../support/required-tools.ts';
import { manyPools, soon, start } from './git/support/start.ts';

const KIB = 1024;
const LIMITS = {
  'holds too many objects': { objects: 50 },
  'is too much to unpack': { inflatedBytes: 1000 },
  'is too much to download': { packBytes: 2 * KIB },
  'holds too many files of configuration': { files: 10 },
  'holds too many names': { treeEntries: 20 },
} as const;

describeOrSkip('a commit that cannot be read, now or later', { skip: WITHOUT_GIT }, () => {
  for (const [what, limits] of Object.entries(LIMITS)) {
    it(`costs the next poll what an idle poll costs, where it ${what}`, async (t) => {
      const { server, repository, source } = await start(t);
      const branch = createBranch(source({ limits }), systemClock, silentLog);
      const good = await repository.commitFiles(manyPools(2));
      await branch.poll(null, soon());
      assert.equal(branch.view().tip?.commit.oid, good);
      const idle = await costOf(() => branch.poll(good, soon()));

      await repository.commitFiles(manyPools(60));
      const first = await costOf(() => branch.poll(good, soon()));
      assert.equal(branch.view().failure?.code, 'GIT_TOO_BIG');
      assert.ok(first.requests > idle.requests);
      const failure = branch.view().failure;
      for (let poll = 0; poll < 3; poll += 1) {
        const next = await costOf(() => branch.poll(good, soon()));
        assert.deepEqual(next, idle);
        assert.equal(branch.view().failure, failure, 'it is still told, in the same words');
      }
      assert.equal(branch.view().tip?.commit.oid, good, 'the last good reading stays');

      const fixed = await repository.commitFiles(manyPools(3));
      await branch.poll(good, soon());
      assert.equal(branch.view().tip?.commit.oid, fixed);
      assert.equal(branch.view().failure, null);

      async function costOf(poll: () => Promise<unknown>): Promise<{ requests: number; down: number }> {
        const before = server.requests.length;
        server.wire();
        await poll();
        return { requests: server.requests.length - before, down: server.wire().down };
      }
    });
  }
});
