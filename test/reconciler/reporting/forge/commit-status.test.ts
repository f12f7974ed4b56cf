import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { LONGEST_DESCRIPTION, MOST_STATUSES, statusesOf } from '#reconciler/reporting/forge/commit-status.ts';
import { dueStatuses, REPOST_EVERY_MS, type PublishedStatus } from '#reconciler/reporting/forge/due-statuses.ts';
import { forgeApiOf } from '#reconciler/reporting/forge/forge-api.ts';
import { note, pool } from './notes.ts';
import { column } from '../../../support/columns.ts';

const said = (of: Parameters<typeof statusesOf>[0]): readonly string[] =>
  statusesOf(of).map(({ context, state, description }) => `${context} ${state}: ${description}`);

describe('the statuses of a commit', () => {
  it('are one for the cluster and one for each pool', () => {
    assert.deepEqual(said(note('progressing', [pool('gpu', 'Settled', 4), pool('general', 'Progressing', 1)])), [
      'kubelet-gitops/demo pending: progressing: 1 of 2 pools settled',
      'kubelet-gitops/demo/gpu success: settled: 4 of 4 nodes run gpu-abc123',
      'kubelet-gitops/demo/general pending: progressing: 1 of 4 nodes run general-abc123',
    ]);
  });

  it('are green when it settled, and red when it halted or was refused', () => {
    assert.deepEqual(
      said(note('settled', [pool('gpu', 'Settled', 4), pool('empty', 'Empty')])).map((line) => line.split(' ')[1]),
      ['success:', 'success:', 'success:'],
    );
    const failure = { node: 'worker-3', config: 'x', reason: 'CrashLoop', message: 'm', at: 't' };
    assert.deepEqual(said(note('halted', [pool('gpu', 'Halted', 2, { failures: [failure] })])), [
      'kubelet-gitops/demo failure: halted: 0 of 1 pools settled',
      'kubelet-gitops/demo/gpu failure: halted at 2 of 4 nodes: worker-3: CrashLoop',
    ]);
    assert.deepEqual(said(note('refused', [], { message: 'it is not signed' })), [
      'kubelet-gitops/demo failure: it is not signed',
    ]);
  });

  it('are red for a pool that the commit has wrong', () => {
    const wrong = pool('gpu', 'Settled', 4, { origin: 'kept', findings: ['pools/gpu/kubelet.yaml:5:1: error'] });
    assert.deepEqual(said(note('partly-refused', [wrong], { message: 'kept as they were: gpu' })), [
      'kubelet-gitops/demo failure: kept as they were: gpu',
      'kubelet-gitops/demo/gpu failure: kept as it was: pools/gpu/kubelet.yaml:5:1: error',
    ]);
  });

  it('say how far a kept pool is where nothing is wrong with it, and which config nodes run without one', () => {
    const kept = pool('gpu', 'Settled', 4, { origin: 'kept' });
    const local = pool('own', 'Progressing', 1, { config: null });
    const [, ...pools] = said(note('progressing', [kept, local, pool('new', 'Waiting', 0, { counts: null })]));
    assert.deepEqual(pools, [
      'kubelet-gitops/demo/gpu success: settled: 4 of 4 nodes run gpu-abc123',
      'kubelet-gitops/demo/own pending: progressing: 1 of 4 nodes run their local config',
      'kubelet-gitops/demo/new pending: waiting: no node yet run new-abc123',
    ]);
  });

  it('stay with nothing pending when another commit takes its place', () => {
    const of = note('superseded', [pool('gpu', 'Settled', 4), pool('general', 'Waiting', 1)], {
      message: 'superseded by b',
    });
    assert.deepEqual(column(statusesOf(of), 'state'), ['superseded', 'success', 'superseded']);
  });

  it('are bounded in length and number, and never leave out what failed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ maxLength: 300 }), fc.constantFrom('Settled', 'Halted', 'Waiting', 'Empty')), {
          maxLength: 60,
        }),
        fc.string({ unit: 'binary', maxLength: 500 }),
        (pools, message) => {
          const of = note(
            'progressing',
            pools.map(([name, phase]) => pool(name, phase as 'Halted')),
            { message },
          );
          const statuses = statusesOf(of);
          assert.ok(statuses.length <= MOST_STATUSES + 1);
          for (const { context, description } of statuses) {
            assert.ok(context.length <= 255 && description.length <= LONGEST_DESCRIPTION);
            assert.doesNotMatch(description, /[\p{Cc}]/u);
          }
          const halted = pools.filter(([, phase]) => phase === 'Halted').length;
          assert.equal(
            statuses.slice(1).filter(({ state }) => state === 'failure').length,
            Math.min(MOST_STATUSES, halted),
          );
        },
      ),
    );
  });
});

describe('the statuses of a commit of which something was said before', () => {
  const many = (failing: number) =>
    Array.from({ length: 30 }, (_, n) => pool(`pool-${n}`, n === failing ? 'Halted' : 'Settled', 4));
  const contextsOf = (statuses: ReturnType<typeof statusesOf>) => statuses.map(({ context }) => context);

  it('never leave out a pool that was listed: what was red has to become green', () => {
    const first = statusesOf(note('halted', many(25)));
    assert.ok(contextsOf(first).includes('kubelet-gitops/demo/pool-25'));
    const before = { said: new Set(contextsOf(first)), pending: new Set<string>() };
    const second = statusesOf(note('settled', many(-1)), before);
    assert.equal(second.find(({ context }) => context.endsWith('/pool-25'))?.state, 'success');
    assert.deepEqual(new Set(contextsOf(second)).size, 22);
  });

  it('end what is pending of a pool that has left, and touch nobody else’s', () => {
    const leaving = pool('gpu', 'Progressing', 1, { origin: 'retiring', config: null });
    const first = statusesOf(note('progressing', [leaving]));
    const others = ['kubelet-gitops/other/gpu', 'ci', 'kubelet-gitops/demo-2/gpu'];
    const before = { said: new Set(contextsOf(first)), pending: new Set([...contextsOf(first), ...others]) };
    const gone = statusesOf(note('settled', []), before);
    assert.deepEqual(
      gone.map(({ context, state }) => `${context} ${state}`),
      ['kubelet-gitops/demo success', 'kubelet-gitops/demo/gpu success'],
    );
    assert.equal(statusesOf(note('superseded', []), before)[1]?.state, 'superseded');
  });

  it('end with a whole character where they are cut', () => {
    const [status] = statusesOf(note('halted', [], { message: `${'x'.repeat(138)}\u{1f980}\u{1f980}` }));
    assert.ok(status?.description.isWellFormed(), JSON.stringify(status));
  });
});

describe('what is due', () => {
  const forge = { word: (state: string) => state, describesAnew: () => true };
  const wanted = (state: 'pending' | 'success', description: string) => [{ context: 'x', state, description }] as const;
  const standing = (state: string, description: string, at: number, retold = 0) =>
    new Map<string, PublishedStatus>([['x', { state, description, at, reposts: retold }]]);

  for (const [what, want, stands, now, due, next] of [
    ['nothing stands there', wanted('pending', '1 of 4'), new Map<string, PublishedStatus>(), 0, 1, Infinity],
    ['it stands there already', wanted('pending', '1 of 4'), standing('pending', '1 of 4', 0), 9e9, 0, Infinity],
    ['the state changed', wanted('success', '4 of 4'), standing('pending', '4 of 4', 0), 1, 1, Infinity],
    ['it went a step on, just now', wanted('pending', '2'), standing('pending', '1', 5), 6, 0, REPOST_EVERY_MS + 5],
    [
      'it went a step on, a minute ago',
      wanted('pending', '2'),
      standing('pending', '1', 5),
      REPOST_EVERY_MS + 5,
      1,
      Infinity,
    ],
    ['it ended, and is told otherwise', wanted('success', '5 of 5'), standing('success', '4 of 4', 5), 6, 1, Infinity],
    ['it was told too often', wanted('pending', '2'), standing('pending', '1', 5, 200), 9e9, 0, Infinity],
    ['it was told too often, and ended', wanted('success', '2'), standing('pending', '1', 5, 200), 6, 1, Infinity],
  ] as const) {
    it(`when ${what}`, () => {
      const found = dueStatuses(want, stands, forge, now);
      assert.deepEqual([found.now.length, found.next], [due, next]);
    });
  }
});

describe('where the forge is', () => {
  for (const [kind, gitUrl, api] of [
    ['github', 'https://github.com/platform/config.git', 'https://api.github.com'],
    ['github', 'git@github.com:platform/config.git', 'https://api.github.com'],
    ['github', 'https://ghe.example.com/platform/config', 'https://ghe.example.com/api/v3'],
    ['gitlab', 'https://gitlab.com/platform/config.git', 'https://gitlab.com/api/v4'],
    ['gitlab', 'ssh://git@gitlab.example.com:2222/platform/config.git', 'https://gitlab.example.com/api/v4'],
    ['gitea', 'https://git.example.com:3000/platform/config.git/', 'https://git.example.com:3000/api/v1'],
    ['gitea', 'http://gitea.git.svc:3000/platform/config.git', 'http://gitea.git.svc:3000/api/v1'],
  ] as const) {
    it(`is told by ${gitUrl}`, () => {
      assert.deepEqual(forgeApiOf(kind, { gitUrl }), { api, repository: 'platform/config' });
    });
  }

  it('can be said', () => {
    const settings = {
      gitUrl: 'https://x.example/git/a/b/c.git',
      apiUrl: 'https://x.example/gitlab/api/v4/',
      repository: 'a/b/c',
    };
    assert.deepEqual(forgeApiOf('gitlab', settings), { api: 'https://x.example/gitlab/api/v4', repository: 'a/b/c' });
    assert.equal(forgeApiOf('github', { gitUrl: 'https://github.com/nobody' }), null);
    assert.equal(forgeApiOf('github', { gitUrl: 'https://x/a/b', apiUrl: 'ftp://x' }), null);
    assert.equal(forgeApiOf('github', { gitUrl: 'https://x/a/b', repository: '../x?y' }), null);
  });
});
