import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { commitsToRender } from '#reconciler/policy/rollout/commits-to-render.ts';
import { type ClassRecord, readProof, writeProof } from '#reconciler/policy/proof/record.ts';
import type { Halt, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import {
  commit,
  COMMIT_A,
  COMMIT_B,
  fleetOf,
  nodeView,
  poolInCluster,
  recordOf,
  validPool,
} from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';

const OTHER = 'd'.repeat(40);
const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
const had = { proven: null, former: recordOf('', OLD.sha256).proven, commit: COMMIT_A };
const HALT = { config: 'x', sha256: NEXT.sha256, at: '', message: '', action: 'revert' } as unknown as Halt;

/** What is asked of a pool with these classes, while a commit is in force that says this. */
function asked(pool: typeof OLD, classes: readonly Partial<ClassRecord>[], halt?: Halt): readonly string[] {
  const records = classes.map((each, index) => ({ ...recordOf(`c${index}`, OLD.sha256), commit: COMMIT_A, ...each }));
  const status: KubeletPoolStatus = { proof: writeProof(records), ...(halt === undefined ? {} : { halt }) };
  const fleet = fleetOf({ pools: [poolInCluster(OLD, status)] });
  const found = commitsToRender(
    desiredState(commit(COMMIT_B, pool), fleet, () => []),
    fleet,
  );
  return found.map(({ pool: of, commit: oid, isAwaited }) => `${of} ${oid.slice(0, 1)}${isAwaited ? ' awaited' : ''}`);
}

describe('the commits that are read again', () => {
  for (const [what, given, expected] of [
    ['are those of what is proven and in force', asked(OLD, [{}]), ['workers a']],
    ['are not the commit in force', asked(OLD, [{ commit: COMMIT_B }]), []],
    ['are not those of another config than that in force', asked(NEXT, [{}]), []],
    ['are none where none is named', asked(OLD, [{ commit: undefined }]), []],
    ['are those that a revert goes back to', asked(NEXT, [had], HALT), ['workers a awaited']],
    ['are not those that one could go back to', asked(NEXT, [had]), []],
    ['are no other of a revert', asked(NEXT, [{ commit: OTHER }, had], HALT), ['workers a awaited']],
    ['are each named once', asked(OLD, [{}, had, {}, { commit: OTHER }], HALT), ['workers a awaited', 'workers d']],
  ] as const) {
    it(what, () => assert.deepEqual(given, expected));
  }

  it('keep a forged commit from standing in a record until a revert needs it', () => {
    const fleet = new FleetSimulation();
    for (const name of ['a', 'b', 'c']) fleet.addNode(nodeView(name, 'workers'));
    fleet.inForce = commit(COMMIT_A, OLD);
    fleet.rounds(20);
    const named = () => [...readProof(fleet.fleet.pools.get('workers')?.status).values()].map((each) => each.commit);
    assert.deepEqual(named(), [COMMIT_A]);
    fleet.inForce = commit(COMMIT_B, OLD);
    fleet.rounds(3);
    assert.deepEqual(named(), [COMMIT_A], 'it renders the same still');
    const pool = fleet.fleet.pools.get('workers');
    const proof = pool?.status?.proof;
    assert.ok(pool !== undefined && proof !== undefined);
    const forged = { ...pool, status: { ...pool.status, proof: { ...proof, commits: [OTHER] } } };
    fleet.fleet = { ...fleet.fleet, pools: new Map([['workers', forged]]) };
    fleet.restart();
    fleet.rounds(3);
    assert.deepEqual(named(), [COMMIT_B]);
  });
});
