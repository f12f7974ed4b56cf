import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changedFields, withKeptFields } from '#shared/contract/kubelet-config/kept-fields.ts';

const LOCAL = {
  staticPodPath: '/etc/kubernetes/manifests',
  authentication: { x509: { clientCAFile: '/ca' }, anonymous: { enabled: false } },
  evictionHard: { 'memory.available': '5%', 'pid.available': '3%' },
  seccompDefault: true,
  tlsCertFile: null,
};

describe('the fields of a node’s own config that stay', () => {
  it('are those that are named, whole branches and single keys', () => {
    const keep = ['authentication', 'evictionHard.memory.available', 'staticPodPath'];
    assert.deepEqual(withKeptFields(LOCAL, { maxPods: 5 }, keep), {
      maxPods: 5,
      staticPodPath: LOCAL.staticPodPath,
      authentication: LOCAL.authentication,
      evictionHard: { 'memory.available': '5%' },
    });
    assert.deepEqual(withKeptFields(LOCAL, { maxPods: 5 }, []), { maxPods: 5 });
    assert.deepEqual(withKeptFields({}, { maxPods: 5 }, keep), { maxPods: 5 });
  });

  it('give way to what the payload sets itself, key by key', () => {
    const payload = { authentication: { anonymous: { enabled: true } }, evictionHard: { 'nodefs.available': '9%' } };
    assert.deepEqual(withKeptFields(LOCAL, payload, ['authentication', 'evictionHard.pid.available']), {
      authentication: { anonymous: { enabled: true }, x509: { clientCAFile: '/ca' } },
      evictionHard: { 'nodefs.available': '9%', 'pid.available': '3%' },
    });
  });

  it('are not taken away by a null', () => {
    const payload = { staticPodPath: null, authentication: null };
    const kept = withKeptFields(LOCAL, payload, ['authentication.x509', 'staticPodPath']);
    assert.deepEqual(kept, {
      staticPodPath: LOCAL.staticPodPath,
      authentication: { x509: { clientCAFile: '/ca' } },
    });
  });

  it('have names that no object inherits', () => {
    const local = JSON.parse('{"featureGates": {"__proto__": true, "constructor": true}}');
    const kept = withKeptFields(local, {}, ['featureGates']);
    assert.deepEqual(Object.keys(kept['featureGates'] ?? {}), ['__proto__', 'constructor']);
    assert.equal(({} as { readonly polluted?: unknown }).polluted, undefined);
  });
});

describe('the fields that get another value', () => {
  const changed = (after: object, ...fields: readonly string[]): readonly string[] =>
    changedFields(LOCAL, { ...after }, fields, '1.37');

  it('are those that are lost, set or changed among the ones that are asked about', () => {
    assert.deepEqual(changed({}, 'staticPodPath', 'authentication'), [
      'authentication.x509.clientCAFile',
      'staticPodPath',
    ]);
    assert.deepEqual(changed({ ...LOCAL, staticPodPath: '/x', maxPods: 5 }, 'staticPodPath'), ['staticPodPath']);
    assert.deepEqual(changed({ ...LOCAL, port: 1 }, 'port', 'address'), ['port']);
    assert.deepEqual(changed({ evictionHard: { 'pid.available': '3%' } }, 'evictionHard.memory.available'), [
      'evictionHard.memory.available',
    ]);
  });

  it('are those of a map whose defaults go, and no key that has its default still', () => {
    const some = { evictionHard: { 'nodefs.available': '10%' } };
    for (const field of ['evictionHard', 'evictionHard.memory.available']) {
      assert.deepEqual(changedFields({}, some, [field], '1.34'), [field]);
    }
    const still = { evictionHard: { 'nodefs.available': '15%', 'memory.available': '100Mi' } };
    assert.deepEqual(changedFields({}, still, ['evictionHard.memory.available'], '1.34'), []);
  });

  it('are none where the default says the same, or the new value shuts something', () => {
    assert.deepEqual(changedFields({ rotateCertificates: false }, {}, ['rotateCertificates'], 'v1.34.2'), []);
    assert.deepEqual(changedFields({ readOnlyPort: 10_255 }, { readOnlyPort: 0 }, ['readOnlyPort'], '1.34'), []);
    assert.deepEqual(changedFields({ readOnlyPort: 10_255 }, {}, ['readOnlyPort'], '1.34'), []);
    assert.deepEqual(changedFields({}, { readOnlyPort: 10_255 }, ['readOnlyPort'], '1.34'), ['readOnlyPort']);
  });
});
