import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { policyOf } from '#reconciler/policy/cluster-policy.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { newRecord, writeFollowing } from '#reconciler/policy/following/record.ts';
import { writeHistory } from '#reconciler/reporting/notes/commit-history.ts';
import type { SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { messageLines } from '#reconciler/reporting/notifications/message.ts';
import {
  MOST_SEVERE,
  type Notification,
  type Occurrence,
  rankOf,
  type Severity,
} from '#reconciler/reporting/notifications/notification.ts';
import { occurrencesOf, placesOver } from '#reconciler/reporting/notifications/occurrences.ts';
import { nextTold, type ToldRecord } from '#reconciler/reporting/notifications/told-record.ts';
import { BY_ANNOTATION, SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { HaltImpact, KubeletPool, KubeletPoolSpec, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { claimText } from '#shared/contract/claim.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { AT, COMMIT, halt, impact, NOW, pool, receiver, source } from './support.ts';

const REFUSED = 'd'.repeat(40);
const HOUR_MS = 3_600_000;
const by = { commit: COMMIT, subject: 'Tune general', author: 'Ada' };
const ready = { type: 'Ready', status: 'True', reason: 'Settled', message: '', lastTransitionTime: AT } as const;

function of(over: { source?: Partial<SourceState>; pools?: readonly KubeletPool[] }): readonly Occurrence[] {
  const all = occurrencesOf({ source: source(over.source), pools: over.pools ?? [], now: NOW, isRead: true });
  // Two at one place would be told in turn, for ever.
  assert.deepEqual([...new Set(marks(all))], marks(all));
  for (const { notification } of all) seen.set(notification.kind, mostSevere(notification));
  return all;
}
/** By kind, the most severe that these tests have seen. */
const seen = new Map<string, Severity>();
const mostSevere = ({ kind, severity }: Notification): Severity => {
  const before = seen.get(kind) ?? 'info';
  return rankOf(severity) > rankOf(before) ? severity : before;
};
after(() => assert.deepEqual({ ...Object.fromEntries(seen), test: 'info' }, MOST_SEVERE));

const said = ({ notification: told }: Occurrence): readonly string[] => [
  `${told.kind} ${told.severity} [${told.pools.join()}] ${told.title}`,
  ...messageLines(told),
  ...(told.runbook === undefined ? [] : [told.runbook.replace('docs/runbooks/', '')]),
];
const marks = (all: readonly Occurrence[]) => all.flatMap((each) => Object.keys(each.marks));

describe('what notifications tell of a pool', () => {
  const cause = { since: 'web-0', settledAt: AT, changed: [{ field: 'maxPods', before: '110', after: '250' }], by };

  it('is a halt: whether it can wait, what changed, whose commit, what to do', () => {
    const all = of({ pools: [pool({ message: 'web-1 failed on a', halt: halt({ cause }), impact: impact('none') })] });
    assert.deepEqual(all.map(said), [
      [
        'halted warning [web] Pool web is halted, and at rest',
        'can this wait? yes: as it is with none',
        'web-1 failed on a',
        `changed since web-0 (settled ${AT}): maxPods: 110 → 250`,
        'commit c372e46f1b2a "Tune general" (Ada)',
        'KubeletGitopsPoolHalted.md',
      ],
    ]);
  });

  const RISKS = [
    ['users', 'critical', ': pods are at risk', 'no', ['web/halted', 'web/at-risk'], 'KubeletGitopsPoolAtRisk.md'],
    ['changing', 'warning', '', 'not known yet', ['web/halted'], 'KubeletGitopsPoolHalted.md'],
    ['none', 'warning', ', and at rest', 'yes', ['web/halted', 'web/at-rest'], 'KubeletGitopsPoolHalted.md'],
  ] as const;
  for (const [risk, severity, so, answer, places, runbook] of RISKS) {
    it(`is by the impact of a halt whether it can wait: ${risk}`, () => {
      for (const action of ['halt', 'revert'] as const) {
        const all = of({ pools: [pool({ halt: halt({ action }), impact: impact(risk) })] });
        const [told] = all;
        const what = action === 'halt' ? 'is halted' : 'goes back to what it settled on before';
        assert.equal(told?.notification.kind, action === 'halt' ? 'halted' : 'reverted');
        assert.equal(told?.notification.severity, severity);
        assert.equal(told?.notification.title, `Pool web ${what}${so}`);
        assert.equal(messageLines(told.notification)[0], `can this wait? ${answer}: as it is with ${risk}`);
        assert.deepEqual(marks(all), places);
        assert.ok(told.notification.runbook?.endsWith(runbook));
      }
    });
  }

  it('is of the time at which it became so, not of the halt that came before', () => {
    const later = NOW + 20 * 60_000;
    const at = (risk?: HaltImpact['risk']): readonly string[] => {
      const pools = [pool({ halt: halt(), ...(risk === undefined ? {} : { impact: impact(risk) }) })];
      return occurrencesOf({ source: source(), pools, now: later, isRead: true }).map(
        ({ notification }) => notification.at,
      );
    };
    assert.deepEqual([at(), at('changing')], [[AT], [AT]]);
    assert.deepEqual([at('users'), at('none')], [[toTimestamp(later)], [toTimestamp(later)]]);
  });

  it('is that nothing is known yet of a halt without an impact', () => {
    const [told] = of({ pools: [pool({ halt: halt() })] });
    assert.equal(told?.notification.canWait?.answer, 'unknown');
  });

  it('is another halt of the same config, and not another look at one', () => {
    const which = (at: string): string | undefined =>
      of({ pools: [pool({ halt: halt({ at }) })] })[0]?.marks['web/halted'];
    assert.equal(which(AT), which(AT));
    assert.notEqual(which(AT), which('2026-11-22T12:00:00Z'));
  });

  it('is once that it settled, whatever nodes join and reboot afterwards', () => {
    const status: KubeletPoolStatus = {
      phase: 'Settled',
      configName: 'web-1',
      sha256: 'x',
      conditions: [ready],
      counts: { nodes: 2, updated: 2, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 },
      rollout: { configName: 'web-1', sha256: 'x', startedAt: AT, finishedAt: AT, by, waves: [] },
    };
    assert.deepEqual(of({ pools: [pool(status)] }).map(said), [
      [
        'settled info [web] Pool web is settled',
        'All 2 nodes run web-1 and have proven it',
        'commit c372e46f1b2a "Tune general" (Ada)',
      ],
    ]);
    const later = { ...status, conditions: [{ ...ready, lastTransitionTime: '2026-12-01T00:00:00Z' }] };
    assert.deepEqual(of({ pools: [pool(later)] })[0]?.marks, of({ pools: [pool(status)] })[0]?.marks);
    for (const over of [
      { phase: 'Progressing' },
      { configName: '' },
      { conditions: [{ ...ready, status: 'False' }] },
    ] as const) {
      assert.deepEqual(of({ pools: [pool({ ...status, ...over })] }), []);
    }
  });

  it('is that its commit has errors in it', () => {
    const wrong = {
      ...ready,
      type: 'ConfigValid',
      status: 'False',
      message: 'a.yaml:1:1: error x\nand 2 more',
    } as const;
    assert.deepEqual(of({ pools: [pool({ commit: COMMIT, conditions: [wrong] })] }).map(said), [
      [
        'refused warning [web] Pool web keeps what it has: the commit has errors in it',
        'a.yaml:1:1: error x',
        'and 2 more',
        'no kubelet hears of it, and the other pools go on',
        'commit c372e46f1b2a "Tune general" (Ada)',
        'KubeletGitopsPoolConfigInvalid.md',
      ],
    ]);
  });

  it('is the same errors wherever they stand, in whatever order, and whatever warnings nodes bring', () => {
    const which = (message: string, commit = COMMIT): string | undefined => {
      const wrong = { ...ready, type: 'ConfigValid', status: 'False', message } as const;
      return of({ pools: [pool({ commit, conditions: [wrong] })] })[0]?.marks['web/refused'];
    };
    const first = which('a.yaml:1:1: error x: one\na.yaml:2:1: error y: two\nand 2 more');
    assert.equal(which('a.yaml:7:1: error y: two\na.yaml:5:1: error x: one\na.yaml:9:1: warning z: three'), first);
    assert.notEqual(which('a.yaml:1:1: error x: one\na.yaml:2:1: error y: another'), first);
    assert.notEqual(which('a.yaml:1:1: error x: one\na.yaml:2:1: error y: two', 'b'.repeat(40)), first);
  });

  it('is that a person holds it up, and who', () => {
    // The clock of their machine is of no matter.
    const claim = claimText({ verb: 'suspend', at: '2031-01-01T00:00:00Z', who: 'grace' }, 'incident 7');
    const annotations = { [SUSPEND_ANNOTATION]: 'incident 7', [BY_ANNOTATION]: claim };
    const all = of({ pools: [pool({}, { annotations })] });
    assert.deepEqual(all.map(said), [
      [
        'waits info [web] Pool web is suspended',
        'incident 7',
        'by grace, according to their command line',
        'nothing new is started until a person resumes it: kubelet-gitops resume web',
      ],
    ]);
    assert.equal(all[0]?.notification.at, AT);
    const without = of({ pools: [pool({}, { annotations: { [SUSPEND_ANNOTATION]: 'incident 7' } })] });
    assert.notDeepEqual(without[0]?.marks, all[0]?.marks);
  });

  it('is that the file of the cluster holds all of them up, once for as long as it does', () => {
    const policy = (suspend: boolean): string => JSON.stringify({ ...policyOf(DEFAULT_CLUSTER), suspend });
    const held = (commit: string): readonly Occurrence[] => of({ source: { policy: policy(true), commit } });
    assert.deepEqual(held(COMMIT).map(said), [
      [
        'waits info [] All pools are suspended',
        'clusters/demo.yaml says so',
        'nothing new is started until a commit takes suspend out of it',
        'commit c372e46f1b2a "Tune general" (Ada)',
      ],
    ]);
    assert.deepEqual(held('b'.repeat(40))[0]?.marks, held(COMMIT)[0]?.marks);
    const over = (suspend: boolean): readonly string[] =>
      placesOver({ source: source({ policy: policy(suspend) }), pools: [], now: NOW, isRead: false });
    assert.deepEqual([over(true), over(false)], [[], ['/suspended']]);
  });

  it('is until when it is held up, and nothing once that is over', () => {
    const until = (ms: number): readonly Occurrence[] => {
      const annotations = { [SUSPEND_ANNOTATION]: `until ${toTimestamp(NOW + ms)}: incident 7` };
      return of({ pools: [pool({}, { annotations })] });
    };
    const end = toTimestamp(NOW + 60_000);
    assert.deepEqual(until(60_000).map(said), [
      [
        'waits info [web] Pool web is suspended',
        `until ${end}: incident 7`,
        `nothing new is started until ${end}; to end it now: kubelet-gitops resume web`,
      ],
    ]);
    assert.deepEqual(until(0), []);
  });

  it('is that a commit has to end it where pool.yaml suspends, which no command does', () => {
    const suspended = (annotations: Readonly<Record<string, string>>): readonly string[] => {
      const all = of({ pools: [{ ...pool({}, { annotations }), spec: { suspend: true } as KubeletPoolSpec }] });
      return all.flatMap(said);
    };
    assert.deepEqual(suspended({}), [
      'waits info [web] Pool web is suspended',
      'pool.yaml says so',
      'nothing new is started until a commit takes suspend: true out of it',
    ]);
    assert.deepEqual(suspended({ [SUSPEND_ANNOTATION]: 'incident 7' }), [
      'waits info [web] Pool web is suspended',
      'incident 7',
      'nothing new is started until a person resumes it: kubelet-gitops resume web',
      'pool.yaml says suspend: true as well, which a commit has to take out',
    ]);
  });

  it('is over once a pool is no longer held up, so that the next time is news', () => {
    const held = pool({}, { annotations: { [SUSPEND_ANNOTATION]: '' } });
    const past = pool({}, { name: 'api', annotations: { [SUSPEND_ANNOTATION]: `until ${AT}: x` } });
    assert.deepEqual(
      placesOver({ source: source(), pools: [held, past, pool({}, { name: 'db' })], now: NOW, isRead: false }),
      ['/suspended', 'api/waits', 'db/waits'],
    );
  });

  it('is that a wave waits for an approval, and each wait anew', () => {
    const waiting = (pausedAt: string, more: object = {}): readonly Occurrence[] => {
      const wave = { name: 'canary', nodes: 1, state: 'done', pausedAt, ...more } as const;
      const rollout = { configName: 'web-1', sha256: 'x', startedAt: AT, by, waves: [wave] } as const;
      return of({ pools: [pool({ message: '1 of 3 nodes run web-1', rollout })] });
    };
    assert.deepEqual(waiting(AT).map(said), [
      [
        'waits warning [web] Pool web waits for your approval after wave canary',
        `web-1 waits after wave canary for a person since ${AT}: approve it with kubelet-gitops approve web`,
        '1 of 3 nodes run web-1',
        'commit c372e46f1b2a "Tune general" (Ada)',
        'KubeletGitopsWaitsForApproval.md',
      ],
    ]);
    assert.notDeepEqual(waiting('2026-11-22T12:00:00Z')[0]?.marks, waiting(AT)[0]?.marks);
    assert.deepEqual(waiting(AT, { approvedAt: AT }), []);
  });

  it('is each approval once, where a wave and the payload of a newer commit wait for one at the same time', () => {
    const wave = { name: 'canary', nodes: 1, state: 'done', pausedAt: AT } as const;
    const rollout = { configName: 'web-1', sha256: 'x', startedAt: AT, by, waves: [wave] } as const;
    const awaits = { configName: 'web-2', sha256: 'y', since: AT };
    const occurrences = of({ pools: [pool({ rollout, awaits })] });
    assert.deepEqual(
      occurrences.map(({ notification }) => notification.commit),
      [by, undefined],
    );
    const look = { occurrences, receivers: [receiver()], taken: new Map(), isPool: () => true };
    const first = nextTold({ before: null, ...look });
    assert.equal(first.record.owed.length, 2);
    assert.deepEqual(nextTold({ before: first.record, ...look }), first);
  });

  it('keeps what is told of the others where one cannot be read', () => {
    const broken = {
      metadata: { name: 'api' },
      status: { halt: 'yes', impact: 1, conditions: 7 },
    } as unknown as KubeletPool;
    assert.deepEqual(marks(of({ pools: [broken, pool({ halt: halt() })] })), ['web/halted']);
  });
});

describe('what notifications tell of the repository', () => {
  it('is a commit that is refused, whose it is, and what is in force', () => {
    const history = writeHistory('', [
      { oid: REFUSED, subject: 'Break all', author: 'Grace', at: AT, outcome: 'refused' },
    ]);
    const state = {
      refusedCommit: REFUSED,
      refusedReason: 'changes-too-many',
      refusedBecause: 'it changes all',
      history,
    };
    assert.deepEqual(of({ source: state }).map(said), [
      [
        'refused warning [] Commit dddddddddddd is refused',
        'it changes all',
        'c372e46f1b2a stays in force',
        'commit dddddddddddd "Break all" (Grace)',
        'KubeletGitopsCommitRefused.md',
      ],
    ]);
    assert.deepEqual(said(of({ source: { ...state, commit: '', history: '' } })[0] as Occurrence).slice(1, 4), [
      'it changes all',
      'no commit is in force',
      'commit dddddddddddd',
    ]);
  });

  it('is what the commit in force says and cannot be used, and no mere warning', () => {
    const findings = 'clusters/demo.yaml:3:1: error bad-text: x\nclusters/demo.yaml:4:1: warning doubtful-value: y';
    const all = of({ source: { findings } });
    assert.deepEqual(all.map(said), [
      [
        'refused warning [] Commit c372e46f1b2a says what cannot be used',
        'clusters/demo.yaml:3:1: error bad-text: x',
        'what is wrong is left out; the rest of the commit is in force',
        'commit c372e46f1b2a "Tune general" (Ada)',
      ],
    ]);
    assert.deepEqual(of({ source: { findings: 'clusters/demo.yaml:4:1: warning doubtful-value: y' } }), []);
  });

  it('is once what commit after commit says, of the first, and again once it was fixed meanwhile', () => {
    const error = (line: number): string => `pools/api/pool.yaml:${line}:1: error bad-text: x`;
    const news = (before: ToldRecord | null, over: Partial<SourceState>, isRead = true) => {
      const seen = { source: source(over), pools: [], now: NOW, isRead };
      const look = { occurrences: occurrencesOf(seen), over: placesOver(seen), receivers: [receiver()] };
      const { record } = nextTold({ ...look, before, taken: new Map(), isPool: () => true });
      return { record: { ...record, owed: [] }, commits: record.owed.map((each) => each.notification.commit?.commit) };
    };
    const [second, third] = ['b'.repeat(40), 'c'.repeat(40)];
    const first = news(null, { findings: error(3) });
    assert.deepEqual(first.commits, [COMMIT]);
    const later = news(first.record, { commit: second, findings: `${error(7)}\nnode-1 is in two pools` });
    assert.deepEqual(later.commits, []);
    // A process that has just begun knows of no finding.
    const begun = news(later.record, { commit: second, findings: '' }, false);
    assert.deepEqual(news(begun.record, { commit: second, findings: error(7) }).commits, []);
    const fixed = news(begun.record, { commit: second, findings: '' });
    assert.deepEqual(news(fixed.record, { commit: third, findings: error(3) }).commits, [third]);
    // Nodes come and go: of those that are in two pools, once in a commit.
    let { record } = news(fixed.record, { findings: 'node-1 is in two pools' });
    for (const findings of [
      'node-1 is in two pools',
      '',
      'node-2 is in two pools',
      error(3),
      'node-1 is in two pools',
    ]) {
      const next = news(record, { findings });
      assert.deepEqual(next.commits, findings === error(3) ? [COMMIT] : [], findings);
      ({ record } = next);
    }
  });
});

describe('what notifications tell of following others', () => {
  const record = newRecord({ clusters: ['staging'], settledFor: '24h' });
  const following = (over: Partial<typeof record>): readonly Occurrence[] =>
    of({ source: { following: writeFollowing({ ...record, ...over }) } });
  const NEXT = 'e'.repeat(40);

  it('is nothing where nothing waits', () => {
    assert.deepEqual(following({}), []);
    assert.deepEqual(of({ source: { following: 'damaged' } }), []);
  });

  it('is for whom commits wait, and which is next', () => {
    const clusters = [{ cluster: 'staging', newest: null, unreadable: false }] as const;
    const waits = following({ waiting: { commits: 2, next: null, clusters } });
    assert.deepEqual(waits.map(said), [
      [
        'follows info [] Commits wait for staging',
        '2 commits wait: staging says nothing of any of them',
        'c372e46f1b2a stays in force',
      ],
    ]);
    const next = following({ waiting: { commits: 1, next: { oid: NEXT, at: NOW }, clusters } });
    assert.deepEqual(next[0]?.notification.title, 'Commit eeeeeeeeeeee is next');
    assert.deepEqual(next[0]?.notification.commit, { commit: NEXT });
    assert.notDeepEqual(next[0]?.marks, waits[0]?.marks);
    const held = following({ waiting: { commits: 1, next: { oid: NEXT, at: NOW }, held: [NEXT], clusters } });
    assert.equal(held[0]?.notification.title, 'Commit eeeeeeeeeeee waits for a person');
  });

  it('is that notes cannot be read', () => {
    const clusters = [{ cluster: 'staging', newest: null, unreadable: true }];
    const [told] = following({ waiting: { commits: 0, next: null, clusters } });
    assert.equal(told?.notification.severity, 'warning');
    assert.equal(told?.notification.title, 'What staging says of commits cannot be read');
  });

  it('is that notes do not count, as of a theft, and whose', () => {
    const canary = { cluster: 'canary', newest: null, unreadable: false };
    const staging = { ...canary, cluster: 'staging', distrusted: 'are not signed' };
    const [told] = following({ waiting: { commits: 0, next: null, clusters: [canary, staging] } });
    assert.equal(told?.notification.severity, 'warning');
    assert.equal(told?.notification.title, 'What staging says of commits does not count');
    assert.match(told?.notification.lines[0] ?? '', /^the notes of staging are not signed\. /);
    assert.deepEqual(marks([told]), ['/notes-untrusted']);
  });

  it('is that one says nothing for as long as the alert waits, and who', () => {
    const since = (ms: number) => following({ silent: [{ cluster: 'staging', after: COMMIT, since: NOW - ms }] });
    assert.deepEqual(since(36 * HOUR_MS), []);
    const [told] = since(36 * HOUR_MS + 1_000);
    assert.equal(told?.notification.title, 'staging says nothing of newer commits');
    assert.deepEqual(marks([told]), ['/silent-staging']);
  });

  it('is what a person let through', () => {
    const all = following({ released: { oid: COMMIT, said: 'let through by ada' } });
    assert.deepEqual(all.map(said), [
      [
        'follows info [] Commit c372e46f1b2a did not wait for the clusters that are followed',
        'it was let through by ada',
        'commit c372e46f1b2a "Tune general" (Ada)',
      ],
    ]);
    assert.deepEqual(following({ released: { oid: NEXT, said: 'x' } }), []);
    const [approved] = following({ released: { oid: COMMIT, said: 'approved by ada', isApproved: true } });
    assert.equal(approved?.notification.title, 'Commit c372e46f1b2a brings what nobody has proven');
  });
});
