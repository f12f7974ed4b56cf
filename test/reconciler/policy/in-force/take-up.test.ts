import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Lineage } from '#reconciler/policy/commit.ts';
import type { JudgedSnapshot } from '#reconciler/policy/commit.ts';
import { createTakeUps } from '#reconciler/policy/in-force/take-up.ts';
import { commit, fleetOf, validPool } from '../../../support/fleet.ts';

const [X, Y, Z] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string];

const fleet = fleetOf({});
const takeUps = () =>
  createTakeUps({ load: () => commit(X, validPool('workers', 110)).repo, judge: () => [], policy: 'refuse' });

function read(oid: string, since: string | null, lineage: Lineage): JudgedSnapshot {
  const author = { name: '', email: '', at: '' };
  const about = { oid, parents: [], author, subject: '', raw: new Uint8Array() };
  return { commit: about, since, lineage, files: new Map(), findings: [], signature: { verdict: 'not-required' } };
}

describe('a commit that was read while another one came into force', () => {
  it('waits until it was read against that one: it may have rewritten it away', () => {
    const { decide, inForce } = takeUps();
    assert.equal(decide(read(Y, X, 'descendant'), fleet, X).inForce?.oid, Y);
    // The record in the cluster still says X, from which both come.
    assert.deepEqual([decide(read(Z, X, 'descendant'), fleet, X).refused, inForce()], [null, Y]);
    assert.equal(decide(read(Z, Y, 'rewritten'), fleet, X).refused?.reason, 'history-rewritten');
    assert.equal(inForce(), Y);
  });

  it('comes into force with the reading after that, where it descends from it', () => {
    const { decide, inForce } = takeUps();
    decide(read(Y, X, 'descendant'), fleet, X);
    decide(read(Z, X, 'descendant'), fleet, X);
    assert.equal(inForce(), Y);
    decide(read(Z, Y, 'descendant'), fleet, X);
    assert.equal(inForce(), Z);
  });
});

describe('the first commit after a start', () => {
  it('is held against what the cluster has on record', () => {
    const { decide, inForce } = takeUps();
    assert.equal(decide(read(Y, X, 'rewritten'), fleet, X).refused?.reason, 'history-rewritten');
    assert.equal(inForce(), null);
    assert.equal(decide(read(Y, null, 'first'), fleet, null).inForce?.oid, Y);
  });

  it('is the one on record, also where somebody else wrote that after it was read: it is not read again', () => {
    const { decide } = takeUps();
    assert.equal(decide(read(Y, X, 'descendant'), fleet, Y).inForce?.oid, Y);
  });
});

describe('a branch that goes back', () => {
  it('to the commit on record is a rewritten one, where a later commit is in force and has yet to be recorded', () => {
    const { decide, inForce } = takeUps();
    decide(read(Y, X, 'descendant'), fleet, X);
    assert.equal(decide(read(X, Y, 'rewritten'), fleet, X).refused?.reason, 'history-rewritten');
    assert.equal(inForce(), Y);
  });
});

describe('no newer commit', () => {
  it('leaves the one in force as it is', () => {
    const { decide } = takeUps();
    assert.deepEqual(decide(null, fleet, X), { inForce: null, refused: null });
    const taken = decide(read(Y, X, 'descendant'), fleet, X);
    assert.deepEqual(decide(null, fleet, X), taken);
    // The tip was read once more; how it relates to what was on record before is of no interest any more.
    assert.deepEqual(decide(read(Y, X, 'rewritten'), fleet, X), taken);
  });
});

describe('a commit that is not let into force', () => {
  it('is told with its reason, and is judged again without being read again', () => {
    let reads = 0;
    const load = () => {
      reads += 1;
      return commit(X, validPool('workers', 110)).repo;
    };
    const { decide } = createTakeUps({ load, judge: () => [], policy: 'refuse' });
    for (let pass = 0; pass < 3; pass += 1) {
      const { refused, inForce } = decide(read(Y, X, 'rewritten'), fleet, X);
      assert.deepEqual([refused?.commit, refused?.reason, inForce], [Y, 'history-rewritten', null]);
    }
    assert.equal(reads, 1);
    decide(read(Z, X, 'rewritten'), fleet, X);
    assert.equal(reads, 2);
  });

  it('is neither read nor judged where its signature is not to be trusted', () => {
    const load = () => assert.fail('it is read');
    const { decide, inForce } = createTakeUps({ load, judge: () => [], policy: 'follow' });
    const tip: JudgedSnapshot = { ...read(Y, X, 'descendant'), signature: { verdict: 'unsigned' } };
    const { refused } = decide(tip, fleet, X);
    assert.deepEqual([refused?.commit, refused?.reason, inForce()], [Y, 'commit-unsigned', null]);
    assert.notEqual(refused?.message, undefined);
  });
});
