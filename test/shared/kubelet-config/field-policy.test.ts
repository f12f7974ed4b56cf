import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  allowedFields,
  DENIED_BY_DEFAULT,
  deniedFields,
  type FieldPolicy,
  isPolicyField,
  NO_FIELD_POLICY,
} from '#shared/contract/kubelet-config/field-policy.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';

const allow = (...fields: readonly string[]): FieldPolicy => ({ allow: fields, deny: [] });
const deny = (...fields: readonly string[]): FieldPolicy => ({ allow: [], deny: fields });
const denied = (config: Readonly<Record<string, unknown>>, cluster = NO_FIELD_POLICY, pool = NO_FIELD_POLICY) =>
  deniedFields(config, cluster, pool).map(({ path }) => path.join('.'));

describe('the field policy', () => {
  it('denies what identifies, secures or cuts off a node, and nothing else', () => {
    assert.deepEqual(denied({ maxPods: 5, evictionHard: { 'memory.available': '1Gi' }, port: 1, providerID: 'x' }), [
      'port',
      'providerID',
    ]);
    assert.deepEqual(denied({ authentication: { webhook: { enabled: true }, anonymous: {} } }), [
      'authentication.webhook.enabled',
      'authentication.anonymous',
    ]);
  });

  it('counts null: it takes back what the node has', () => {
    assert.deepEqual(denied({ rotateCertificates: null }), ['rotateCertificates']);
  });

  it('is not fooled by a name that only begins alike', () => {
    assert.deepEqual(denied({ portable: 1, addresses: 'x' }), []);
  });

  it('lets a pool or its cluster allow what is denied by default, as a whole or in part', () => {
    const config = { authentication: { webhook: { enabled: true }, x509: { clientCAFile: '/ca' } } };
    assert.deepEqual(denied(config, allow('authentication')), []);
    assert.deepEqual(denied(config, NO_FIELD_POLICY, allow('authentication.x509')), ['authentication.webhook.enabled']);
  });

  it('lets nobody allow what the cluster denies, and a pool deny more for itself', () => {
    assert.deepEqual(denied({ maxPods: 5 }, deny('maxPods'), allow('maxPods')), ['maxPods']);
    assert.deepEqual(denied({ featureGates: { A: true, B: true } }, NO_FIELD_POLICY, deny('featureGates.A')), [
      'featureGates.A',
    ]);
    const [field] = deniedFields({ port: 1 }, deny('port'), NO_FIELD_POLICY);
    assert.deepEqual([field?.allowable, /cluster/.test(field?.why ?? '')], [false, true]);
  });

  it('sends with an assignment what is allowed, and nothing that the cluster denies', () => {
    assert.deepEqual(
      allowedFields({ allow: ['port'], deny: ['authentication'] }, allow('authentication.x509', 'address')),
      ['address', 'port'],
    );
  });

  it('knows only fields that there are', () => {
    for (const field of Object.keys(DENIED_BY_DEFAULT)) assert.ok(FIELDS.has(field), field);
    assert.ok(isPolicyField('featureGates.Some') && isPolicyField('evictionHard.memory.available'));
    assert.ok(!isPolicyField('maxPodz') && !isPolicyField('nothing.at.all'));
  });
});
