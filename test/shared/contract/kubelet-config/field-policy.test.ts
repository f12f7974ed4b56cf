import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  allowedFields,
  commonFields,
  DENIED_BY_DEFAULT,
  deniedFields,
  type FieldPolicy,
  isPolicyField,
  keptFields,
  NO_FIELD_POLICY,
  RESTRICTIVE_VALUES,
} from '#shared/contract/kubelet-config/field-policy.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';

const allow = (...fields: readonly string[]): FieldPolicy => ({ allow: fields, deny: [] });
const deny = (...fields: readonly string[]): FieldPolicy => ({ allow: [], deny: fields });
const denied = (
  config: Readonly<Record<string, unknown>>,
  cluster = NO_FIELD_POLICY,
  inPool: readonly string[] = [],
): readonly string[] => deniedFields(config, cluster, inPool).map(({ path }) => path.join('.'));

describe('the field policy', () => {
  it('denies what owns, identifies, secures or cuts off a node, and nothing else', () => {
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
    assert.deepEqual(denied({ rotateCertificates: null, readOnlyPort: null }), ['rotateCertificates', 'readOnlyPort']);
  });

  it('counts a null above a denied field: it takes back all that is below it', () => {
    assert.deepEqual(denied({ logging: null }, deny('logging.verbosity')), ['logging']);
    assert.deepEqual(denied({ logging: null }, NO_FIELD_POLICY, ['logging.options.json']), ['logging']);
    assert.deepEqual(denied({ authentication: null }, allow('authentication.webhook')), ['authentication']);
  });

  it('keeps what it denies where a payload takes the place of a node’s own config', () => {
    const [byDefault] = [Object.keys(DENIED_BY_DEFAULT).sort()];
    assert.deepEqual(keptFields(NO_FIELD_POLICY), byDefault);
    const { allow: more, deny: less } = { allow: ['port', 'authentication.webhook'], deny: ['maxPods', 'port'] };
    const kept = keptFields({ allow: more, deny: less }, ['logging.verbosity', 'authentication.x509.clientCAFile']);
    const changed = ['authentication.anonymous', 'authentication.x509', 'logging.verbosity', 'maxPods'];
    assert.deepEqual(kept, [...byDefault.filter((field) => field !== 'authentication'), ...changed].sort());
  });

  it('is not fooled by a name that only begins alike', () => {
    assert.deepEqual(denied({ portable: 1, addresses: 'x' }), []);
  });

  it('lets everybody shut what a field could open, by exactly that value', () => {
    assert.deepEqual(denied(RESTRICTIVE_VALUES), []);
    const almost = Object.fromEntries(Object.keys(RESTRICTIVE_VALUES).map((field) => [field, 'false']));
    assert.deepEqual(denied(almost), Object.keys(RESTRICTIVE_VALUES));
    assert.deepEqual(denied({ readOnlyPort: 0 }, deny('readOnlyPort')), ['readOnlyPort'], 'who denies it means it');
  });

  it('lets a cluster allow what is denied by default, as a whole or in part', () => {
    const config = { authentication: { webhook: { enabled: true }, x509: { clientCAFile: '/ca' } } };
    assert.deepEqual(denied(config, allow('authentication')), []);
    assert.deepEqual(denied(config, allow('authentication.x509')), ['authentication.webhook.enabled']);
  });

  it('lets nobody allow what the cluster denies, and a pool deny more for itself', () => {
    assert.deepEqual(denied({ port: 5 }, { allow: ['port'], deny: ['port'] }), ['port']);
    assert.deepEqual(denied({ featureGates: { A: true, B: true } }, NO_FIELD_POLICY, ['featureGates.A']), [
      'featureGates.A',
    ]);
    const [field] = deniedFields({ port: 1 }, deny('port'));
    assert.deepEqual([field?.allowable, /cluster/.test(field?.why ?? '')], [false, true]);
  });

  it('sends with an assignment what is allowed, and nothing that the cluster denies', () => {
    assert.deepEqual(
      allowedFields({ allow: ['port', 'authentication.x509', 'address', 'port'], deny: ['authentication'] }),
      ['address', 'port'],
    );
  });

  it('knows what two lists of fields both cover', () => {
    assert.deepEqual(commonFields(['authentication', 'port'], ['authentication.x509', 'address', 'port']), [
      'port',
      'authentication.x509',
    ]);
    assert.deepEqual(commonFields(['authentication'], []), []);
  });

  it('keeps all of a field of which a key is allowed: the others are denied still', () => {
    for (const field of ['staticPodURLHeader', 'staticPodPath', 'authentication.anonymous.enabled']) {
      assert.ok(
        keptFields(allow(`${field}.x`)).some((kept) => field === kept || field.startsWith(`${kept}.`)),
        field,
      );
    }
  });

  it('knows only fields that there are', () => {
    for (const field of Object.keys(DENIED_BY_DEFAULT)) assert.ok(FIELDS.has(field), field);
    for (const field of Object.keys(RESTRICTIVE_VALUES)) assert.ok(field in DENIED_BY_DEFAULT, field);
    assert.ok(isPolicyField('featureGates.Some') && isPolicyField('evictionHard.memory.available'));
    assert.ok(!isPolicyField('maxPodz') && !isPolicyField('nothing.at.all'));
  });
});
