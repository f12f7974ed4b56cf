import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import {
  type CommitNote,
  nextNote,
  noteInForce,
  noteRefused,
  noteSuperseded,
} from '#reconciler/reporting/notes/commit-note.ts';
import { storedNote } from '#reconciler/git/notes/stored-note.ts';
import { noteContent } from '#reconciler/reporting/notes/note-content.ts';
import {
  assignedNode,
  commit,
  COMMIT_A,
  COMMIT_B,
  configSource,
  failedNode,
  fleetOf,
  invalidPool,
  nodeView,
  NOW,
  poolInCluster,
  recordOf,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
const workers = validPool('workers', 110);
const a = nodeView('a', 'workers');
const b = nodeView('b', 'workers');
const cluster = (...kubeletNodes: Parameters<typeof fleetOf>[0]['kubeletNodes'] & object): Fleet =>
  fleetOf({ nodes: [a, b], kubeletNodes, configSources: [configSource(workers)], pools: [poolInCluster(workers)] });

type Pools = Parameters<typeof commit> extends [string, ...infer P] ? P : never;

function planned(fleet: Fleet, ...all: Pools) {
  const desired = desiredState(commit(COMMIT_B, ...all), fleet, () => []);
  return { desired, pools: plan(desired, fleet, SETTINGS, NOW).pools };
}

function note(fleet: Fleet, ...all: Pools): CommitNote {
  const { desired, pools } = planned(fleet, ...all);
  return noteInForce('prod', COMMIT_B, desired, pools);
}

const selecting = (pool: string) => ({ nodeSelector: { matchLabels: { pool } } });

const settled = cluster(settledNode(a, workers), settledNode(b, workers));

const textOf = (said: CommitNote): string => noteContent(said).text;

describe('the note on a commit', () => {
  it('says settled when every pool runs it', () => assert.equal(note(settled, workers).outcome, 'settled'));
  it('says settled of no commit that no node has proven anything of', () => {
    assert.equal(note(fleetOf({}), workers).outcome, 'progressing', 'no node');
    assert.equal(note(fleetOf({})).outcome, 'progressing', 'no pool');
    assert.equal(
      note(settled, workers, validPool('empty', 50, selecting('none'))).outcome,
      'settled',
      'one pool is empty',
    );
    const { desired, pools } = planned(settled, workers);
    const soaking = { ...recordOf('', workers.sha256), state: 'soaking' } as const;
    const unproven = new Map([...pools].map(([name, status]) => [name, { ...status, proof: writeProof([soaking]) }]));
    assert.equal(unproven.get('workers')?.phase, 'Settled');
    assert.equal(noteInForce('prod', COMMIT_B, desired, unproven).outcome, 'progressing', 'nobody has proven it');
  });
  it('says who let it through, and why', () => {
    const { desired, pools } = planned(settled, workers);
    const said = noteInForce('prod', COMMIT_B, desired, pools, null, [], 'released by ada: staging is gone');
    assert.match(textOf(said), /^prod: settled \(released by ada: staging is gone\)\n/);
  });
  it('says progressing while a node is on trial', () => {
    const fleet = cluster(settledNode(a, workers), assignedNode(b, workers, { phase: 'Trial' }));
    assert.equal(note(fleet, workers).outcome, 'progressing');
  });
  it('says halted, with the node and its reason', () => {
    const halted = note(cluster(settledNode(a, workers), failedNode(b, workers)), workers);
    assert.equal(halted.outcome, 'halted');
    assert.match(textOf(halted), /^b: CrashLoop: exit-code 1$/m);
  });
  it('says partly-refused, with file and line, when a pool is invalid and keeps what it had', () => {
    const refused = note(settled, invalidPool('workers'));
    assert.equal(refused.outcome, 'partly-refused');
    assert.match(textOf(refused), /pools\/workers\/kubelet\.yaml:3:1: error unknown-field/);
  });
  it('says partly-refused when an invalid pool never was valid', () => {
    assert.equal(note(settled, workers, invalidPool('gpu')).outcome, 'partly-refused');
  });
  it('says partly-refused, and of which nodes, when two pools want them', () => {
    const line = '2 nodes (a, b) are left as they are: web and workers select them with the same priority';
    const desired = desiredState(commit(COMMIT_B, workers), settled, () => []);
    const { pools } = plan(desired, settled, SETTINGS, NOW);
    const told = noteInForce('prod', COMMIT_B, desired, pools, null, [line]);
    assert.equal(told.outcome, 'partly-refused');
    assert.ok(textOf(told).includes(`\n${line}\n`));
  });
  it('says refused for a commit that did not come into force', () => {
    assert.match(
      textOf(noteRefused('prod', COMMIT_B, 'the branch was rewritten')),
      /^prod: refused \(the branch was rewritten\)/,
    );
  });
  it('says what displaced it', () => {
    assert.match(
      textOf(noteSuperseded(note(settled, workers), 'c'.repeat(40))),
      /replaced by cccccccccccc while settled/,
    );
  });

  it('is one line where all is well', () => {
    assert.equal(textOf(note(settled, workers)), 'prod: settled (1 pool, 2 nodes)\n');
    const two = note(settled, workers);
    assert.equal(textOf({ ...two, pools: [...two.pools, ...two.pools] }), 'prod: settled (2 pools, 4 nodes)\n');
  });

  it('is a table where a node lags behind, or anything is to be said', () => {
    const well = note(settled, workers);
    const [pool] = well.pools;
    assert.ok(pool?.counts);
    const { counts } = pool;
    const limits = { maxChange: '80%', maxUnassign: '60%' } as const;
    for (const said of [
      { ...well, pools: [{ ...pool, counts: { ...counts, updated: 1, pending: 1 } }] },
      { ...well, pools: [{ ...pool, counts: { ...counts, failed: 1 } }] },
      { ...well, pools: [{ ...pool, counts: null }] },
      { ...well, pools: [{ ...pool, suspended: true }] },
      { ...well, pools: [{ ...pool, released: { haltedAt: '2026-03-02T10:14:07Z', nodes: 2 } }] },
      { ...well, findings: ['clusters/prod.yaml:1:1: warning'] },
      { ...well, omittedPools: 3 },
      { ...well, limits },
      noteSuperseded(well, 'c'.repeat(40)),
    ]) {
      assert.match(textOf(said), /^prod: .*\nPOOL +PHASE +UPDATED +FAILED +CONFIG\nworkers /);
    }
  });

  it('is for people alone, and what is for programs is JSON with a schema version', () => {
    const { text, data } = noteContent({ ...note(settled, workers), findings: ['x'] });
    assert.deepEqual(text.split('\n'), [
      'prod: settled',
      'POOL     PHASE    UPDATED  FAILED  CONFIG',
      `workers  Settled  2/2      0       ${workers.configName}`,
      'x',
      '',
    ]);
    assert.ok(!text.includes('{'));
    const read = JSON.parse(data) as { schema: string; pools: { counts: { nodes: number } }[] };
    assert.equal(read.schema, 'kubelet-gitops.dev/note/v1');
    assert.equal(read.pools[0]?.counts.nodes, 2);
  });

  it('records why a pool set its windows aside', () => {
    const rollout = { ...workers.spec.rollout, emergency: 'CVE-2026-1234' };
    const urgent = note(settled, { ...workers, spec: { ...workers.spec, rollout } });
    assert.equal(urgent.pools[0]?.emergency, 'CVE-2026-1234');
    assert.match(textOf(urgent), /^workers: emergency, windows do not count: CVE-2026-1234$/m);
  });

  it('tells an auditor what a person allowed, held up, took back or let go on', () => {
    const at = '2026-03-02T10:14:07Z';
    const [workersNote] = note(settled, workers).pools;
    assert.ok(workersNote);
    const waves = [
      { name: 'canary', nodes: 1, state: 'done' },
      { name: 'rest', nodes: 2, state: 'rolling' },
    ] as const;
    const halt = { config: 'workers-x', at, action: 'revert', message: '' } as const;
    const told = {
      ...workersNote,
      phase: 'Progressing' as const,
      suspended: true,
      waves,
      halt,
      released: { haltedAt: at, nodes: 2 },
    };
    const limits = { maxChange: '50%', maxUnassign: '60%' } as const;
    const text = textOf({ ...note(settled, workers), limits, pools: [told] });
    assert.deepEqual(text.split('\n').slice(3, 8), [
      'the commit sets maxUnassign to 60% (usual: 20%)',
      'workers: canary done, rest rolling',
      'workers: suspended',
      `workers: reverting since ${at}`,
      'workers: released by a person; 2 failed before that',
    ]);
  });
  it('has the limits, the halt and the waves from the commit and the cluster', () => {
    const halted = cluster(settledNode(a, workers), failedNode(b, workers));
    const desired = desiredState(commit(COMMIT_B, workers), halted, () => []);
    const { pools } = plan(desired, halted, SETTINGS, NOW);
    const told = noteInForce('prod', COMMIT_B, desired, pools, { maxChange: '10%', maxUnassign: 1 });
    assert.deepEqual(told.limits, { maxChange: '10%', maxUnassign: 1 });
    assert.equal(told.pools[0]?.halt?.action, 'halt');
    assert.deepEqual(told.pools[0].waves, pools.get('workers')?.rollout?.waves ?? []);
    assert.equal(told.pools[0].released, null);
  });

  it('is whole, and names the pool that is wrong, whatever a finding quotes', () => {
    const findings = Array.from({ length: 30 }, (_, n) => ({
      code: 'bad-address',
      severity: 'error' as const,
      message: `${'x'.repeat(60_000)} is no IP address (${n})`,
      file: 'pools/workers/kubelet.yaml',
    }));
    const wrong = { ...invalidPool('workers'), findings };
    const desired = desiredState(commit(COMMIT_B, wrong), settled, () => []);
    const { pools } = plan(desired, settled, SETTINGS, NOW);
    for (const said of [
      noteInForce('prod', COMMIT_B, desired, pools),
      noteRefused('prod', COMMIT_B, 'm'.repeat(50_000), findings),
    ]) {
      const { text, data } = noteContent(said);
      assert.equal(storedNote(text).toString(), text, 'nothing is cut off');
      const json = JSON.parse(storedNote(data).toString()) as CommitNote;
      assert.deepEqual([json.omittedPools, json.pools.length], [undefined, said.pools.length]);
    }
    for (const { message } of pools.get('workers')?.conditions ?? []) assert.ok(message.length <= 32_768);
  });

  it('is equal for equal states, so that it is not written twice', () => {
    assert.deepEqual(noteContent(note(settled, workers)), noteContent(note(settled, workers)));
  });
});

describe('what is said next of a commit', () => {
  const said = note(settled, workers);
  const c = nodeView('c', 'workers');
  const grown = fleetOf({
    nodes: [a, b, c],
    kubeletNodes: [settledNode(a, workers), settledNode(b, workers), settledNode(c, workers)],
    configSources: [configSource(workers)],
    pools: [poolInCluster(workers)],
  });
  const joined = note(grown, workers);
  const progressing = note(cluster(settledNode(a, workers), assignedNode(b, workers, { phase: 'Trial' })), workers);
  const halted = note(cluster(settledNode(a, workers), failedNode(b, workers)), workers);
  const refused = note(settled, invalidPool('workers'));
  const other = { ...progressing, commit: COMMIT_A };
  const asks = { reason: 'NewBase', seen: 'b1', base: 'b1', message: 'its own config file changed' } as const;
  const rewritten = note(
    cluster(settledNode(a, workers), settledNode(b, workers, { phase: 'Drifted', awaitsTurn: asks })),
    workers,
  );
  const retried = note(cluster(settledNode(a, workers), settledNode(b, workers, { phase: 'Trial' })), workers);

  const rows: readonly (readonly [string, CommitNote | null, CommitNote, boolean, CommitNote | null])[] = [
    ['the first word is said', null, progressing, false, progressing],
    ['progress is said until it is done', progressing, said, false, said],
    ['a node that joins after it was done is not', said, joined, true, said],
    ['nor that it takes what is proven', said, progressing, true, said],
    ['nor that a node asks for a restart', said, rewritten, true, said],
    ['nor that it has its turn', said, retried, true, said],
    ['after a restart nothing is said of nodes on their way', null, progressing, true, null],
    ['after a restart what it came to is said again', null, joined, true, joined],
    ['a pool that stops after it was done is said', said, halted, true, halted],
    ['and what it came to after that', halted, said, true, said],
    ['that something is wrong since is said', said, refused, true, refused],
    ['another commit begins with its own first word', said, other, false, other],
  ];
  for (const [name, last, next, done, wanted] of rows) {
    it(name, () => assert.deepEqual(nextNote(last, next, done), wanted));
  }
});
