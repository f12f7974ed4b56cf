import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { noteInForce, noteRefused } from '#reconciler/reporting/notes/commit-note.ts';
import { commit, COMMIT_B, fleetOf, invalidPool, poolInCluster, validPool } from '../../../support/fleet.ts';

const workers = validPool('workers', 110);
const settled = fleetOf({ pools: [poolInCluster(workers)] });

describe('a note stays short, whatever it tells of:', () => {
  const finding = (n: number) => ({ code: 'odd', severity: 'error', message: 'm'.repeat(600), file: `f${n}` }) as const;
  const many = Array.from({ length: 30 }, (_, n) => finding(n));

  it('ten findings of the repository, of each pool and of a refused commit, each cut', () => {
    const desired = desiredState(commit(COMMIT_B, workers), settled, () => []);
    const wrong = { ...invalidPool('workers'), findings: many };
    const withPool = desiredState(commit(COMMIT_B, wrong), settled, () => []);
    const inForce = noteInForce('prod', COMMIT_B, { ...desired, findings: many }, new Map(), null, [
      'n1 is left alone',
    ]);
    const ofPool = noteInForce('prod', COMMIT_B, withPool, new Map()).pools.find(({ name }) => name === 'workers');
    const refused = noteRefused('prod', COMMIT_B, 'm'.repeat(2_000), many);
    for (const findings of [inForce.findings, ofPool?.findings ?? [], refused.findings]) {
      assert.equal(findings.length, 10);
      assert.match(findings[0] ?? '', /^f0: /);
      for (const each of findings) assert.ok(each.length <= 500, `${each.length}`);
    }
    assert.ok(refused.message.length <= 800);
  });

  it('five failures and the twenty classes that somebody has to know of first', () => {
    const failures = Array.from({ length: 9 }, (_, n) => ({
      node: `n${n}`,
      config: 'web-1',
      reason: 'CrashLoop',
      message: 'm'.repeat(2_000),
      at: 't',
    }));
    const done = Array.from({ length: 30 }, (_, n) => ({ name: `c${n}`, nodes: 1, updated: 1, configName: 'x' }));
    const status = { failures, classes: [...done, { name: 'held', nodes: 1, message: 'm'.repeat(500) }] };
    const desired = desiredState(commit(COMMIT_B, workers), settled, () => []);
    const [pool] = noteInForce('prod', COMMIT_B, desired, new Map([['workers', status]])).pools;
    assert.deepEqual(
      pool?.failures.map(({ node, message }) => [node, message.length]),
      ['n0', 'n1', 'n2', 'n3', 'n4'].map((node) => [node, 1_200]),
    );
    assert.deepEqual([pool.classes?.length, pool.classes?.[0]?.name], [20, 'held']);
    assert.ok((pool.classes?.[0]?.message.length ?? 0) <= 400);
  });
});
