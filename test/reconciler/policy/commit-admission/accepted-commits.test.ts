import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Lineage } from '#reconciler/policy/commit-snapshot.ts';
import type { JudgedSnapshot } from '#reconciler/policy/commit-snapshot.ts';
import {
  createAcceptedCommits,
  type AcceptedCommitsOptions,
} from '#reconciler/policy/commit-admission/accepted-commits.ts';
import type { RefusedCommit } from '#reconciler/policy/commit-admission/refusal-cause.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import type { ClusterConfig } from '#reconciler/policy/config-repo/loaded-repo.ts';
import {
  commit,
  configSource,
  fleetOf,
  nodeView,
  poolInCluster,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const [X, Y, Z] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string];

const fleet = fleetOf({});
const acceptedCommits = () =>
  deciding({ load: () => commit(X, validPool('workers', 110)).repo, judge: () => [], policy: 'refuse' });

/** Everything that is considered holds. */
function deciding(options: AcceptedCommitsOptions) {
  const { consider, keep, inForce } = createAcceptedCommits(options);
  const decide = (
    tip: JudgedSnapshot | null,
    of: Fleet,
    recorded: string | null,
    refused: RefusedCommit | null = null,
  ) => {
    const taken = consider(tip, of, { inForce: recorded, refused });
    keep(taken);
    return taken;
  };
  return { decide, inForce };
}

function read(oid: string, since: string | null, lineage: Lineage): JudgedSnapshot {
  const author = { name: '', email: '', at: '' };
  const about = { oid, parents: [], author, subject: '', raw: new Uint8Array() };
  return { commit: about, since, lineage, files: new Map(), findings: [], signature: { verdict: 'not-required' } };
}

describe('a commit that was read while another one came into force', () => {
  it('waits until it was read against that one: it may have rewritten it away', () => {
    const { decide, inForce } = acceptedCommits();
    assert.equal(decide(read(Y, X, 'descendant'), fleet, X).inForce?.oid, Y);
    // The record in the cluster still says X, from which both come.
    assert.deepEqual([decide(read(Z, X, 'descendant'), fleet, X).refused, inForce()], [null, Y]);
    assert.equal(decide(read(Z, Y, 'rewritten'), fleet, X).refused?.reason, 'history-rewritten');
    assert.equal(inForce(), Y);
  });

  it('comes into force with the reading after that, where it descends from it', () => {
    const { decide, inForce } = acceptedCommits();
    decide(read(Y, X, 'descendant'), fleet, X);
    decide(read(Z, X, 'descendant'), fleet, X);
    assert.equal(inForce(), Y);
    decide(read(Z, Y, 'descendant'), fleet, X);
    assert.equal(inForce(), Z);
  });
});

describe('the first commit after a start', () => {
  it('is held against what the cluster has on record', () => {
    const { decide, inForce } = acceptedCommits();
    assert.equal(decide(read(Y, X, 'rewritten'), fleet, X).refused?.reason, 'history-rewritten');
    assert.equal(inForce(), null);
    assert.equal(decide(read(Y, null, 'first'), fleet, null).inForce?.oid, Y);
  });

  it('is the one on record, also where somebody else wrote that after it was read: it is not read again', () => {
    const { decide } = acceptedCommits();
    assert.equal(decide(read(Y, X, 'descendant'), fleet, Y).inForce?.oid, Y);
  });
});

describe('a branch that goes back', () => {
  it('to the commit on record is a rewritten one, where a later commit is in force and has yet to be recorded', () => {
    const { decide, inForce } = acceptedCommits();
    decide(read(Y, X, 'descendant'), fleet, X);
    assert.equal(decide(read(X, Y, 'rewritten'), fleet, X).refused?.reason, 'history-rewritten');
    assert.equal(inForce(), Y);
  });
});

describe('no newer commit', () => {
  it('leaves the one in force as it is', () => {
    const { decide } = acceptedCommits();
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
    const { decide } = deciding({ load, judge: () => [], policy: 'refuse' });
    for (let pass = 0; pass < 3; pass += 1) {
      const { refused, inForce } = decide(read(Y, X, 'rewritten'), fleet, X);
      assert.deepEqual([refused?.commit, refused?.reason, inForce], [Y, 'history-rewritten', null]);
    }
    assert.equal(reads, 1);
    decide(read(Z, X, 'rewritten'), fleet, X);
    assert.equal(reads, 2);
  });

  it('leaves the one in force as it was read, where the branch goes back to that', () => {
    let reads = 0;
    const load = () => {
      reads += 1;
      return commit(X, validPool('workers', 110)).repo;
    };
    const { decide } = deciding({ load, judge: () => [], policy: 'refuse' });
    const taken = decide(read(Y, X, 'descendant'), fleet, X);
    assert.equal(decide(read(Z, Y, 'rewritten'), fleet, Y).refused?.commit, Z);
    assert.deepEqual(decide(read(Y, Y, 'same'), fleet, Y), taken);
    assert.equal(reads, 2);
  });

  it('is neither read nor judged where its signature is not to be trusted', () => {
    const load = () => assert.fail('it is read');
    const { decide, inForce } = deciding({ load, judge: () => [], policy: 'follow' });
    const tip: JudgedSnapshot = { ...read(Y, X, 'descendant'), signature: { verdict: 'unsigned' } };
    const { refused } = decide(tip, fleet, X);
    assert.deepEqual([refused?.commit, refused?.reason, inForce()], [Y, 'commit-unsigned', null]);
    assert.notEqual(refused?.message, undefined);
  });
});

describe('a commit that was refused for what it would do to the fleet', () => {
  const [old, next, spot] = [validPool('general', 100), validPool('general', 110), validPool('spot', 100)];
  /** Sixty nodes whose config the commit changes, and others that it leaves alone. */
  const with60And = (others: number): Fleet => {
    const general = Array.from({ length: 60 }, (_, index) => nodeView(`g${index}`, 'general'));
    const spots = Array.from({ length: others }, (_, index) => nodeView(`s${index}`, 'spot'));
    return fleetOf({
      nodes: [...general, ...spots],
      kubeletNodes: [...general.map((node) => settledNode(node, old)), ...spots.map((node) => settledNode(node, spot))],
      configSources: [configSource(old), configSource(spot)],
      pools: [poolInCluster(old), poolInCluster(spot)],
    });
  };
  const changing = (cluster: Partial<ClusterConfig>, pools = [next, spot]) =>
    deciding({
      load: () => ({ cluster: { ...DEFAULT_CLUSTER, ...cluster }, pools, findings: [] }),
      judge: () => [],
      policy: 'refuse',
    });
  const rows = [
    ['changes-too-many', () => changing({ maxChange: '50%' })],
    ['unassigns-too-many', () => changing({ maxUnassign: '50%' }, [spot])],
    ['no-pools', () => changing({}, [])],
  ] as const;

  for (const [reason, start] of rows) {
    it(`${reason}: stays refused though the fleet has become another one, also for the next process`, () => {
      const { decide, inForce } = start();
      const { refused } = decide(read(Y, X, 'descendant'), with60And(40), X);
      assert.deepEqual([refused?.commit, refused?.reason], [Y, reason]);
      for (const later of [with60And(70), with60And(1_000), fleetOf({})]) {
        assert.deepEqual(decide(read(Y, X, 'descendant'), later, X), { inForce: null, refused });
        assert.deepEqual(start().decide(read(Y, X, 'descendant'), later, X, refused), { inForce: null, refused });
      }
      assert.equal(inForce(), null);
    });

    it(`${reason}: another commit is judged by itself`, () => {
      const { decide, inForce } = start();
      const { refused } = decide(read(Y, X, 'descendant'), with60And(40), X);
      decide(read(Z, X, 'descendant'), fleetOf({}), X, refused);
      assert.equal(inForce(), Z);
    });
  }

  it('is not forgotten by a process that has yet to read the branch', () => {
    const { decide } = changing({ maxChange: '50%' });
    const recorded: RefusedCommit = { commit: Y, reason: 'changes-too-many', message: '' };
    const { refused } = decide(null, with60And(70), X, recorded);
    assert.deepEqual(refused, recorded);
    // What it recorded is what the next one reads.
    assert.deepEqual(decide(read(Y, X, 'descendant'), with60And(70), X, refused).refused, recorded);
  });

  it('is let into force where it is on record as the one in force', () => {
    const { decide, inForce } = changing({ maxChange: '50%' });
    decide(read(Y, X, 'descendant'), with60And(40), Y, { commit: Y, reason: 'changes-too-many', message: '' });
    assert.equal(inForce(), Y);
  });

  it('is judged again by a process that was told to follow rewritten branches', () => {
    const load = () => commit(X, next).repo;
    const { decide, inForce } = deciding({ load, judge: () => [], policy: 'follow' });
    decide(read(Y, X, 'rewritten'), fleet, X, { commit: Y, reason: 'history-rewritten', message: '' });
    assert.equal(inForce(), Y);
  });

  it('is neither refused for good nor taken up for what would become of a part of the fleet', () => {
    const load = () => ({ cluster: { ...DEFAULT_CLUSTER, maxChange: '50%' }, pools: [next, spot], findings: [] });
    const { consider, inForce } = createAcceptedCommits({ load, judge: () => [], policy: 'refuse' });
    const recorded = { inForce: X, refused: null };
    assert.equal(consider(read(Y, X, 'descendant'), fleetOf({}), recorded).refused, null);
    assert.equal(inForce(), null);
    assert.equal(consider(read(Y, X, 'descendant'), with60And(40), recorded).refused?.reason, 'changes-too-many');
    assert.equal(consider(read(Y, X, 'descendant'), with60And(70), recorded).refused, null);
  });
});

describe('a commit that is not read at once', () => {
  const pools = commit(X, validPool('workers', 110)).repo;

  it('leaves the one in force until it is read', () => {
    let repo: ReturnType<AcceptedCommitsOptions['load']> = pools;
    const { decide } = deciding({ load: () => repo, judge: () => [], policy: 'refuse' });
    decide(read(X, null, 'first'), fleet, null);
    repo = null;
    const meanwhile = decide(read(Y, X, 'descendant'), fleet, X);
    assert.deepEqual([meanwhile.inForce?.oid, meanwhile.refused, meanwhile.reading], [X, null, Y]);
    repo = pools;
    const then = decide(read(Y, X, 'descendant'), fleet, X);
    assert.deepEqual([then.inForce?.oid, then.reading], [Y, undefined]);
  });

  it('is refused where it cannot be read, is not asked for again, and the next one comes into force', () => {
    const asked: string[] = [];
    const load: AcceptedCommitsOptions['load'] = ({ commit: { oid } }) => {
      asked.push(oid);
      return oid === Y ? { unread: 'reading it took longer than 30 s' } : pools;
    };
    const { decide } = deciding({ load, judge: () => [], policy: 'refuse' });
    decide(read(X, null, 'first'), fleet, null);
    for (let pass = 0; pass < 3; pass += 1) {
      const { inForce, refused } = decide(read(Y, X, 'descendant'), fleet, X);
      assert.deepEqual([inForce?.oid, refused?.reason], [X, 'too-large']);
      assert.match(refused?.message ?? '', /^reading it took longer than 30 s\. /);
    }
    assert.equal(decide(read(Z, X, 'descendant'), fleet, X).inForce?.oid, Z);
    assert.deepEqual(asked, [X, Y, Z]);
  });

  it('is refused where it is too large, also as the one on record: its pools are not gone', () => {
    const load = () => ({ ...pools, pools: [], tooLarge: 'the layers of all pools have more' });
    const { decide } = deciding({ load, judge: () => [], policy: 'refuse' });
    const { inForce, refused } = decide(read(X, X, 'same'), fleet, X);
    assert.deepEqual([inForce, refused?.reason], [null, 'too-large']);
  });

  it('is not read again where a process ended while it read it, unless it was in force before', () => {
    const load = (): never => assert.fail('it was read');
    const { decide } = deciding({ load, judge: () => [], policy: 'refuse' });
    const ended = { commit: Y, reason: 'ended-the-reconciler', message: 'm' } as const;
    assert.deepEqual(decide(read(Y, X, 'descendant'), fleet, X, ended).refused, ended);
    assert.throws(() => decide(read(Y, X, 'descendant'), fleet, X), /it was read/, 'released: it is on record no more');
    const { decide: again } = acceptedCommits();
    assert.equal(again(read(Y, Y, 'same'), fleet, Y, ended).inForce?.oid, Y);
  });
});
