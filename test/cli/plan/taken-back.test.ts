import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { takenBack } from '#cli/plan/taken-back.ts';
import { validPool } from '../../support/fleet.ts';

type Fields = Readonly<Record<string, unknown>>;

const overlay = (fields: Fields = {}) => validPool('x', 100, { apply: 'overlay' }, fields);
const replace = (fields: Fields = {}, keepFields: readonly string[] = []) =>
  validPool('x', 100, { apply: 'replace', keepFields }, fields);
const said = (...[before, after]: readonly (ReturnType<typeof overlay> | undefined)[]): readonly string[] =>
  takenBack(before, after, 'pools/x/pool.yaml').map(({ message }) => message);

describe('what a change takes from nodes', () => {
  it('is what their own configs say where the pool’s takes their place, field by field, but for what they keep', () => {
    const [message = '', ...more] = said(overlay(), replace({ tlsMinVersion: 'VersionTLS13' }, ['authentication']));
    assert.deepEqual(more, []);
    assert.match(message, /^nodes lose what their own configs say of .*\bprotectKernelDefaults, .*seccompDefault, /);
    assert.match(message, /\bstaticPodPath\b/);
    assert.doesNotMatch(message, /\b(?:authentication|tlsMinVersion|maxPods)\b/);
    assert.deepEqual(said(undefined, replace({ tlsMinVersion: 'VersionTLS13' }, ['authentication'])), [message]);
  });

  it('is each field of a branch of which the pool says another', () => {
    const anonymous = { authentication: { anonymous: { enabled: false } } };
    const [message = ''] = said(overlay(anonymous), replace(anonymous, ['authentication.webhook']));
    assert.match(message, /\bauthentication\.x509\.clientCAFile\b/);
    assert.doesNotMatch(message, /\bauthentication\.(?:anonymous|webhook)\b/);
  });

  it('is what a null takes back', () => {
    const expected = 'nodes lose what their own configs say of seccompDefault: the kubelet’s defaults count there';
    assert.deepEqual(said(overlay(), overlay({ seccompDefault: null })), [expected]);
  });

  it('is what the pool shut and says no more: its layer is gone, its pool, or its place taken', () => {
    const shut = { seccompDefault: true, readOnlyPort: 0, podPidsLimit: 100, maxPods: 9 };
    const back = 'the pool says no more of podPidsLimit, readOnlyPort, seccompDefault: ';
    assert.deepEqual(said(overlay(shut), overlay()), [`${back}what each node’s own config says counts again`]);
    assert.deepEqual(said(overlay(shut), undefined), [`${back}what each node’s own config says counts again`]);
    assert.deepEqual(said(replace(shut), replace()), [`${back}the kubelet’s default counts again`]);
  });

  it('is nothing where it sets what it takes, where the node has it still, and where it opened something before', () => {
    assert.deepEqual(said(overlay(), overlay({ seccompDefault: true, maxPods: 5 })), []);
    assert.deepEqual(said(overlay({ seccompDefault: true }), overlay({ seccompDefault: false })), []);
    assert.deepEqual(said(replace(), overlay()), []);
    assert.deepEqual(said(overlay({ seccompDefault: false }), overlay()), []);
    assert.deepEqual(said(undefined, overlay()), []);
  });
});
