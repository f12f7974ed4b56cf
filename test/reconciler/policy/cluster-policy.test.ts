import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { policyInForce, policyOf, recordedPolicy } from '#reconciler/policy/cluster-policy.ts';
import { suspensionOf } from '#reconciler/policy/rollout/holds/suspended.ts';
import { DEFAULT_CLUSTER, unreadableCluster } from '#reconciler/policy/config-repo/read-cluster.ts';

const FINDING = {
  code: 'unknown-field',
  severity: 'error',
  message: 'spec.suspnd is not a field',
  file: 'clusters/prod.yaml',
  line: 4,
  column: 3,
} as const;

const suspension = (text: string, arePools = false): readonly (string | undefined)[] => {
  const suspended = suspensionOf(null, undefined, recordedPolicy(text, arePools), 0);
  return [suspended?.hold, suspended?.because];
};

describe('the file of a cluster', () => {
  it('that somebody suspended all pools in says so', () => {
    const text = JSON.stringify(policyOf({ ...DEFAULT_CLUSTER, suspend: true }));
    assert.deepEqual(suspension(text), ['suspended', "the cluster's file says suspend: true"]);
  });

  it('that is broken holds everything up by a reason of its own, with its place, after a restart too', () => {
    const [reason, because] = suspension(JSON.stringify(policyOf(unreadableCluster([FINDING]))));
    assert.equal(reason, 'cluster-file');
    assert.match(because ?? '', /^nobody suspended it.*: clusters\/prod\.yaml:4:3: error unknown-field/);
  });

  it('whose record is damaged holds everything up until git is read', () => {
    for (const text of [
      '{',
      '{"suspend":1}',
      '{"maxUnavailable":1,"suspend":false,"windows":null}',
      '{"maxUnavailable":null,"maxUnassign":1,"suspend":1,"windows":null}',
      '{"maxUnavailable":true,"maxUnassign":1,"suspend":false,"windows":null}',
      '{"maxUnassign":1,"suspend":false,"windows":null}',
      '{"maxUnavailable":1,"maxUnassign":1,"suspend":false}',
      '{"maxUnavailable":1,"maxUnassign":null,"suspend":false,"windows":null}',
      '{"maxUnavailable":1,"maxUnassign":1,"suspend":false,"windows":{"allow":[]}}',
      '{"maxUnavailable":1,"maxUnassign":1,"suspend":false,"windows":{"deny":[]}}',
      'null',
      '{"maxUnavailable":null,"maxUnassign":1,"suspend":false,"windows":null,"unreadable":1}',
      '{"maxUnavailable":null,"maxUnassign":1,"suspend":false,"windows":null,"former":{"maxUnavailable":1}}',
    ]) {
      const [reason, because] = suspension(text);
      assert.equal(reason, 'cluster-file');
      assert.match(because ?? '', /the record of what it said last is damaged/);
    }
  });

  it('whose record is gone though there are pools holds everything up until git is read', () => {
    const [reason, because] = suspension('', true);
    assert.equal(reason, 'cluster-file');
    assert.match(because ?? '', /the record of what it said last is lost/);
    const kept = JSON.stringify(policyOf(recordedPolicy('', true)));
    assert.deepEqual(suspension(kept, true), [reason, because], 'as it is recorded until then');
  });

  it('is known from its record as it was', () => {
    const windows = { allow: [], deny: [{ cron: '0 2 * * *', duration: '1h' }], overrun: 'stop' } as const;
    for (const policy of [
      { maxUnavailable: null, maxUnassign: 0, suspend: false, windows: null },
      { file: 'clusters/prod.yaml', maxUnavailable: null, maxUnassign: 0, suspend: false, windows: null },
      { maxUnavailable: 3, maxUnassign: '40%', suspend: true, windows },
      { maxUnavailable: '3%', maxUnassign: 7, suspend: false, windows, unreadable: 'clusters/prod.yaml:1:1' },
      {
        maxUnavailable: null,
        maxUnassign: 0,
        suspend: false,
        windows: null,
        former: { maxUnavailable: 1, maxUnassign: 2, windows },
      },
    ]) {
      assert.deepEqual(recordedPolicy(JSON.stringify(policy), true), policy);
      assert.deepEqual(policyOf({ ...DEFAULT_CLUSTER, ...policy }), policy);
    }
  });

  it('has no name where its record has one that is no text', () => {
    const recorded = recordedPolicy(
      '{"file":1,"maxUnavailable":1,"maxUnassign":1,"suspend":false,"windows":null}',
      true,
    );
    assert.ok(!('file' in recorded));
    assert.equal(recorded.maxUnavailable, 1);
  });

  it('that was never recorded holds nothing up', () => assert.deepEqual(suspension(''), [undefined, undefined]));
});

describe('a file of a cluster that is gone', () => {
  const missing = { ...DEFAULT_CLUSTER, missing: true as const };
  const strict = () => policyOf({ ...DEFAULT_CLUSTER, suspend: true, maxUnavailable: 1 });

  it('leaves what it said last in force, and starts nothing new', () => {
    const held = policyInForce(missing, strict());
    assert.deepEqual({ ...held, unreadable: undefined }, { ...strict(), unreadable: undefined });
    assert.match(held.unreadable ?? '', /is gone: commit it again/);
    assert.deepEqual(policyInForce(missing, held), held, 'in the next pass as well, and after a restart');
  });

  const said = [
    { suspend: true },
    { maxUnavailable: 1 },
    { windows: { allow: [], deny: [], overrun: 'stop' } },
  ] as const;
  for (const limit of said) {
    it(`leaves ${Object.keys(limit).join()} in force where it said nothing else, also where it was broken before`, () => {
      const recorded = policyOf({ ...DEFAULT_CLUSTER, ...limit });
      const held = { ...recorded, unreadable: policyInForce(missing, strict()).unreadable };
      assert.deepEqual(policyInForce(missing, recorded), held);
      assert.deepEqual(policyInForce(missing, { ...recorded, unreadable: 'clusters/prod.yaml:1:1' }), held);
    });
  }

  it('and is there under a name that is wrong says that instead', () => {
    const misnamed = unreadableCluster([FINDING], missing);
    assert.deepEqual(policyInForce(misnamed, strict()), policyOf(misnamed));
  });

  it('is read with what it said in the commit before, where that holds besides', () => {
    const former = { maxUnavailable: 1, maxUnassign: 2, windows: null };
    assert.deepEqual(policyInForce(DEFAULT_CLUSTER, strict(), former), { ...policyOf(DEFAULT_CLUSTER), former });
    assert.ok(!('former' in policyInForce(DEFAULT_CLUSTER, strict())));
  });

  it('that said nothing is no loss, nor is one whose record was lost', () => {
    const nothing = policyOf(DEFAULT_CLUSTER);
    assert.deepEqual(policyInForce(missing, nothing), nothing);
    assert.deepEqual(policyInForce(missing, recordedPolicy('', true)), nothing);
  });

  it('counts again when it is there again', () => {
    assert.deepEqual(policyInForce(DEFAULT_CLUSTER, policyInForce(missing, strict())), policyOf(DEFAULT_CLUSTER));
  });
});
