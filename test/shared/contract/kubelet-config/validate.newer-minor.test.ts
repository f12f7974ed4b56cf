import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';

const NEWEST = minorName(NEWEST_MINOR);
const NEWER = minorName(NEWEST_MINOR + 1);

const said = (config: object, minor: string, tolerate: readonly string[] = []): readonly string[] => {
  const value = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...config };
  return validateKubeletConfig(value, { minor, tolerate }).map(({ severity, code, field = '' }) =>
    `${severity} ${code} ${field}`.trim(),
  );
};

describe('a version that is newer than the tables', () => {
  it('is never green in silence', () => {
    assert.deepEqual(said({}, NEWEST), []);
    for (const minor of [NEWER, '1.99', 'v1.99.3-eks.1'])
      assert.deepEqual(said({}, minor), ['warning unknown-version']);
  });

  const NEW_THINGS = { fieldOfTomorrow: 1, featureGates: { GateOfTomorrow: true } };

  it('may have fields and gates that are tolerated', () => {
    const both = ['error unknown-field fieldOfTomorrow', 'error unknown-feature-gate featureGates.GateOfTomorrow'];
    assert.deepEqual(said(NEW_THINGS, NEWER), ['warning unknown-version', ...both]);
    assert.deepEqual(said(NEW_THINGS, NEWER, ['unknown-field', 'unknown-feature-gate']), [
      'warning unknown-version',
      ...both.map((each) => each.replace('error', 'warning')),
    ]);
  });

  it('is the only one: a gate that a known kubelet does not know keeps it from starting', () => {
    assert.deepEqual(said({ featureGates: { GateOfTomorrow: true } }, NEWEST, ['unknown-feature-gate']), [
      'error unknown-feature-gate featureGates.GateOfTomorrow',
    ]);
  });
});
