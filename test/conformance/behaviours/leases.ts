import assert from 'node:assert/strict';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import type { Behaviours } from '../suite.ts';
import { AT_LEASES, identityOf, refusalOf } from '../support/bench.ts';

interface Lease extends KubeObject {
  readonly spec: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

const leaseBody = (name: string, holderIdentity: string): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace: 'kubelet-gitops' },
  spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z', leaseTransitions: 0 },
});

export const leaseBehaviours: Behaviours = {
  async 'of two who create it one wins'({ kube, fresh }) {
    const name = fresh('lease');
    const tries = await Promise.allSettled(['a', 'b'].map((who) => kube.create(AT_LEASES, leaseBody(name, who))));
    assert.deepEqual(tries.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const lost = tries.find((each) => each.status === 'rejected');
    assert.ok(isKubeError(lost?.reason, 'KUBE_ALREADY_EXISTS'));
  },
  async 'of two who take it over at the same version one wins'({ kube, fresh }) {
    const name = fresh('lease');
    const made = await kube.create(AT_LEASES, leaseBody(name, 'a'));
    const { resourceVersion } = identityOf(made);
    const take = (holderIdentity: string): Promise<Lease> =>
      kube.mergePatch<Lease>(AT_LEASES, name, { metadata: { resourceVersion }, spec: { holderIdentity } });
    const tries = await Promise.allSettled(['b', 'c'].map(take));
    assert.deepEqual(tries.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const lost = tries.find((each) => each.status === 'rejected');
    assert.ok(isKubeError(lost?.reason, 'KUBE_CONFLICT'));
    const won = tries.find((each) => each.status === 'fulfilled')?.value;
    assert.deepEqual(await kube.get(AT_LEASES, name), won);
  },
  async 'it is renewed and given up by patches'({ kube, fresh }) {
    const name = fresh('lease');
    await kube.create(AT_LEASES, leaseBody(name, 'a'));
    const renewTime = '2026-01-01T00:00:15.123456Z';
    assert.equal((await kube.mergePatch<Lease>(AT_LEASES, name, { spec: { renewTime } })).spec.renewTime, renewTime);
    const given = await kube.mergePatch<Lease>(AT_LEASES, name, { spec: { holderIdentity: null, renewTime: null } });
    assert.deepEqual(given.spec, { leaseDurationSeconds: 15, leaseTransitions: 0 });
    const nobodys = await kube.mergePatch<Lease>(AT_LEASES, name, { spec: { holderIdentity: '' } });
    assert.equal(nobodys.spec.holderIdentity, '');
  },
  async 'a time without microseconds is refused'({ kube, fresh }) {
    const name = fresh('lease');
    await kube.create(AT_LEASES, leaseBody(name, 'a'));
    for (const renewTime of ['2026-01-01T00:00:15Z', '2026-01-01T00:00:15.123Z']) {
      const refused = await refusalOf(kube.mergePatch(AT_LEASES, name, { spec: { renewTime } }));
      assert.equal(refused.code, 'KUBE_INVALID', renewTime);
    }
  },
  async 'a duration of nothing is refused'({ kube, fresh }) {
    const body = leaseBody(fresh('lease'), 'a');
    const refused = await refusalOf(
      kube.create(AT_LEASES, { ...body, spec: { ...body.spec, leaseDurationSeconds: 0 } }),
    );
    assert.match(refused.message, /spec\.leaseDurationSeconds: Invalid value: 0: must be greater than 0/);
  },
};
