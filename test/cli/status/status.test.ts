import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { paintFor, plain } from '#cli/paint.ts';
import { allSettled } from '#cli/status/all-settled.ts';
import { renderStatus, type StatusView } from '#cli/status/render.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import type { PoolPhase } from '#shared/contract/api/kubelet-pool.ts';
import { newRecord, writeFollowing } from '#reconciler/policy/following/record.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import {
  COMMIT_A,
  failedNode,
  nodeView,
  NOW,
  poolInCluster,
  poolSpec,
  settledNode,
  validPool,
} from '../../support/fleet.ts';
import { FOLLOWED } from '../../support/followed.ts';

const workers = validPool('workers', 110);
const counts = { nodes: 2, updated: 2, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 };
const source = {
  ...NO_STATE,
  url: 'https://git.example/c.git',
  branch: 'main',
  commit: COMMIT_A,
  subject: 'Raise maxPods',
  author: 'Ada',
  takenUpAt: '2026-11-21T11:55:00Z',
};
const settled: StatusView = {
  source,
  pools: [poolInCluster(workers, { phase: 'Settled', counts })],
  nodes: [settledNode(nodeView('node-1', 'workers'), workers, { kubeletVersion: 'v1.34.2' })],
};
const halted: StatusView = {
  source: {
    ...source,
    refusedCommit: 'b'.repeat(40),
    refusedBecause: 'the branch was rewritten',
    failure: 'no answer',
    failingSince: '2026-11-21T11:00:00Z',
  },
  pools: [
    poolInCluster(workers, {
      phase: 'Halted',
      message: 'failed on node-1',
      counts: { ...counts, updated: 1, failed: 1 },
    }),
  ],
  nodes: [failedNode(nodeView('node-1', 'workers'), workers)],
};

describe('kubelet-gitops status', () => {
  it('says for whom commits wait', () => {
    const clusters = [{ cluster: 'staging', newest: null, unreadable: false }];
    const waiting = { commits: 2, next: null, clusters };
    const record = { ...newRecord({ clusters: ['staging'], settledFor: '24h' }), waiting };
    const view = { ...settled, source: { ...source, following: writeFollowing(record) } };
    assert.match(renderStatus(view, plain, NOW), /^follows     2 commits wait: staging says nothing of any of them$/m);
  });

  it('shows what each cluster says of the newest commits, if it follows any', () => {
    const view: StatusView = { ...settled, source: { ...source, ...FOLLOWED } };
    const text = renderStatus(view, plain, NOW);
    assert.match(text, /^COMMIT {8}PRODUCTION {3}STAGING {9}CANARY-EU {9}SUBJECT$/m);
    assert.match(text, /^bbbbbbbbbbbb {2}in 21h {7}settled 9h {6}settled 3h {8}Tune general$/m);
    assert.doesNotMatch(renderStatus(settled, plain, NOW), /SUBJECT/);
    assert.match(renderStatus(view, plain, NOW, 70), /^COMMIT .* CANARY-EU$/m, 'without subjects where it is narrow');
  });

  it('shows commit, pools and nodes as tables', () => {
    const text = renderStatus(settled, plain, NOW);
    assert.match(text, /^commit      aaaaaaaaaaaa Raise maxPods \(Ada, 5m ago\)$/m);
    assert.match(text, /^workers  Settled  2\/2      0         0        0       0         workers-\w{10}$/m);
    assert.match(text, /^node-1  workers  Idle   workers-\w{10}  workers-\w{10}  workers-\w{10}  v1\.34\.2  0s$/m);
  });

  it('calls assigned what kubectl does: what the agent has taken up, under whatever name', () => {
    const [node] = settled.nodes;
    assert.ok(node?.spec?.configSource !== undefined);
    const configSource = { ...node.spec.configSource, name: 'renamed-0123456789' };
    const nodes = [{ ...node, spec: { ...node.spec, configSource } }];
    assert.equal(renderStatus({ ...settled, nodes }, plain, NOW), renderStatus(settled, plain, NOW));
  });

  it('shows phases that only a newer reconciler knows, in colour as well', () => {
    const pools = [poolInCluster(workers, { phase: 'Dreaming' as 'Settled', counts })];
    const text = renderStatus({ ...settled, pools }, paintFor({ isTTY: true }, {}), NOW);
    assert.match(stripVTControlCharacters(text), /^workers  Dreaming  2\/2 /m);
  });

  it('says what is wrong under what it is wrong with', () => {
    const lines = renderStatus(halted, plain, NOW).split('\n');
    const after = (start: string): string => lines[lines.findIndex((line) => line.startsWith(start)) + 1] ?? '';
    assert.match(after('workers'), /^ {2}failed on node-1$/);
    assert.match(after('node-1'), /^ {2}CrashLoop: exit-code 1$/);
    assert.ok(lines.includes('refused     bbbbbbbbbbbb: the branch was rewritten'));
    assert.ok(lines.includes('git         fails since 2026-11-21T11:00:00Z: no answer'));
  });

  it('says what is amiss with a node that is up to date: drift, or a kubelet that is not healthy', () => {
    for (const phase of ['Drifted', 'Idle'] as const) {
      const said = '/etc/kubelet.yaml on the node is not what was installed';
      const lastTransitionTime = '2026-11-21T11:00:00Z';
      const amiss = { type: 'KubeletConfigHealthy', status: 'False', reason: 'R', message: said } as const;
      const node = settledNode(nodeView('node-1', 'workers'), workers);
      const status = { ...node.status, phase, conditions: [{ ...amiss, lastTransitionTime }] };
      const text = renderStatus({ ...settled, nodes: [{ ...node, status }] }, plain, NOW);
      assert.ok(text.includes(`\n  ${said}`), phase);
    }
  });

  it('says what restart a node asks for, whether its turn has come, and what its pool waits for', () => {
    const asks = { reason: 'NewBase', seen: 's1', base: 'b1', message: 'its own config file changed' } as const;
    const at = '2026-11-21T11:00:00Z';
    const refusedBase = { sha256: 'b1', message: 'exit-code 1', at };
    const node = settledNode(nodeView('node-1', 'workers'), workers, { phase: 'Drifted', awaitsTurn: asks });
    const [pool] = settled.pools;
    assert.ok(pool?.status !== undefined);
    const message = '2 of 2 nodes run it; node-1 waits: no window is open';
    const holds = [{ reason: 'window', nodes: 1, examples: ['node-1'], message: 'no window is open' }];
    const waiting = { ...pool, status: { ...pool.status, message, holds } };
    const said = (shown: typeof node): string =>
      renderStatus({ ...settled, pools: [waiting], nodes: [shown] }, plain, NOW);
    assert.ok(said(node).includes('\n  asks for its turn to restart: its own config file changed\n'));
    assert.ok(said(node).includes(`\n  ${message}\n`));
    const granted = { ...node, spec: { ...node.spec, turn: { seen: 's1' } } };
    assert.ok(said(granted).includes('\n  restarts in its turn: its own config file changed\n'));
    const refused = { ...node, status: { ...node.status, awaitsTurn: null, refusedBase } };
    assert.ok(said(refused).includes('\n  keeps its own config file of before: exit-code 1\n'));
    assert.doesNotMatch(said(refused), /turn/);
    assert.doesNotMatch(renderStatus(settled, plain, NOW), /nodes run it/);
  });

  it('names the commits whose note alone cannot be written', () => {
    const unreadableNotes = 'a1: it is no tree\nb2: it is lost';
    const lines = renderStatus({ ...settled, source: { ...source, unreadableNotes } }, plain, NOW).split('\n');
    assert.deepEqual(
      lines.filter((line) => line.startsWith('note')),
      ['note        not written on a1: it is no tree', 'note        not written on b2: it is lost'],
    );
    assert.deepEqual(
      renderStatus(settled, plain, NOW)
        .split('\n')
        .filter((line) => line.startsWith('note')),
      [],
    );
  });

  it('says what is suspended, also where there is nothing to do', () => {
    const [pool] = settled.pools;
    assert.ok(pool !== undefined);
    const annotations = { 'kubelet-gitops.dev/suspend': 'incident 4711' };
    const annotated = { ...pool, metadata: { ...pool.metadata, annotations } };
    assert.match(
      renderStatus({ ...settled, pools: [annotated] }, plain, NOW),
      /^workers .*\n {2}suspended: incident 4711$/m,
    );
    const inGit = { ...pool, spec: poolSpec({ suspend: true }) };
    assert.match(renderStatus({ ...settled, pools: [inGit] }, plain, NOW), /^ {2}suspended: pool\.yaml says so$/m);
    const policy = JSON.stringify({ maxUnavailable: null, maxUnassign: '20%', suspend: true, windows: null });
    const whole = { ...settled, source: { ...source, cluster: 'prod', policy } };
    assert.match(renderStatus(whole, plain, NOW), /^suspended {3}all pools: clusters\/prod\.yaml says so$/m);
    assert.doesNotMatch(renderStatus(settled, plain, NOW), /suspended/);
  });

  it('says how far a rollout in waves has come, while it is under way', () => {
    const waves = [
      { name: 'canary', nodes: 1, state: 'done' },
      { name: 'rest', nodes: 9, state: 'rolling' },
    ] as const;
    const rollout = {
      configName: workers.configName,
      sha256: workers.sha256,
      startedAt: '2026-11-21T11:00:00Z',
      waves,
    };
    const said = (phase: PoolPhase, more: Partial<typeof rollout & { finishedAt: string }> = {}): readonly string[] =>
      renderStatus(
        { ...settled, pools: [poolInCluster(workers, { phase, counts, rollout: { ...rollout, ...more } })] },
        plain,
        NOW,
      )
        .split('\n')
        .filter((line) => line.startsWith('  waves:'));
    assert.deepEqual(said('Progressing'), ['  waves: canary (up to 1) done, rest (up to 9) rolling']);
    assert.deepEqual(said('Empty'), []);
    assert.deepEqual(said('Settled', { finishedAt: '2026-11-21T11:30:00Z' }), []);
    assert.deepEqual(said('Progressing', { waves: waves.slice(1) as never }), []);
  });

  it('names the config of a pool with one class of machines, and how many classes there are otherwise', () => {
    const said = (...names: readonly string[]): string | undefined => {
      const classes = names.map((configName) => ({ name: configName, nodes: 1, configName }));
      const pools = [poolInCluster(workers, { phase: 'Settled', counts, classes })];
      return /^workers +Settled .* (\S.*)$/m.exec(
        renderStatus({ ...settled, pools }, plain, NOW).replaceAll(/ {2,}/g, '  '),
      )?.[1];
    };
    assert.equal(said('workers-a'), 'workers-a');
    assert.match(said('workers-a', 'workers-b') ?? '', /classes$/);
  });

  it('stays within 160 columns for ordinary names', () => {
    const widest = Math.max(
      ...renderStatus(settled, plain, NOW)
        .split('\n')
        .map((line) => line.length),
    );
    assert.ok(widest <= 160, `${widest} columns`);
  });

  it('tells scripts whether all is well', () => {
    assert.equal(allSettled(settled), true);
    assert.equal(allSettled(halted), false);
    assert.equal(allSettled({ ...settled, source: halted.source }), false);
  });

  it('takes nothing for settled that a status says of an earlier spec', () => {
    const [pool] = settled.pools;
    assert.ok(pool !== undefined);
    const at = (generation: number, observedGeneration?: number): StatusView => {
      const status = { ...pool.status, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
      return { ...settled, pools: [{ ...pool, metadata: { ...pool.metadata, generation }, status }] };
    };
    assert.equal(allSettled(at(2, 1)), false);
    assert.equal(allSettled(at(2, 2)), true);
    assert.equal(allSettled(at(2)), true, 'as an API server leaves it whose definition lacks the field');
  });

  it('is at rest with a commit that is only warned of, as its note says, and not with one that has errors', () => {
    const found = (severity: 'error' | 'warning', file: string): StatusView => {
      const finding = formatFinding({ code: 'hostile-name', severity, message: 'the name is odd', file });
      return { ...settled, source: { ...source, findings: finding } };
    };
    assert.equal(allSettled(found('warning', 'docs/CON')), true);
    assert.match(renderStatus(found('warning', 'docs/CON'), plain, NOW), /^docs\/CON: warning hostile-name: /m);
    assert.equal(allSettled(found('error', 'pools/CON')), false);
    assert.equal(allSettled(found('error', 'pools/a: warning b: c')), false, 'a name that says it');
    const mixed = [found('warning', 'docs/CON'), found('error', 'pools/CON')].map((view) => view.source.findings);
    assert.equal(allSettled({ ...settled, source: { ...source, findings: mixed.join('\n') } }), false);
  });
});
