import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readReconcilerSettings } from '#reconciler/settings.ts';

const REQUIRED = { CLUSTER: 'prod', GIT_URL: 'https://git.example/a.git' };

describe('GIT_PATH', () => {
  for (const [given, path] of [
    [undefined, ''],
    ['', ''],
    ['infra/kubelet', 'infra/kubelet'],
    ['.platform', '.platform'],
    ['a..b', 'a..b'],
  ] as const) {
    it(`${JSON.stringify(given)} is the folder "${path}"`, () => {
      assert.equal(readReconcilerSettings({ ...REQUIRED, GIT_PATH: given }).gitPath, path);
    });
  }

  for (const [given, said] of [
    ['/infra', /GIT_PATH=\/infra begins with a slash: write it from the root of the repository/],
    ['infra/', /GIT_PATH=infra\/ ends with a slash/],
    ['../other', /GIT_PATH=\.\.\/other leads out of a folder with "\.\."/],
    ['a//b', /GIT_PATH=a\/\/b has an empty part/],
    ['a\u202eb', /GIT_PATH=a\\u\{202e\}b has characters that cannot be seen/],
  ] as const) {
    it(`${JSON.stringify(given)} keeps the reconciler from starting, and it says why`, () => {
      const isSaid = { code: 'SETTINGS_INVALID', message: said };
      assert.throws(() => readReconcilerSettings({ ...REQUIRED, GIT_PATH: given }), isSaid);
    });
  }
});

describe('ALLOW_FIELDS', () => {
  it('is a list of fields, or none', () => {
    const allowed = (fields: string) => readReconcilerSettings({ ...REQUIRED, ALLOW_FIELDS: fields }).allowFields;
    assert.deepEqual(allowed('authentication.webhook, port'), ['authentication.webhook', 'port']);
    assert.deepEqual(readReconcilerSettings(REQUIRED).allowFields, []);
  });

  it('keeps the reconciler from starting where it names what is not a field', () => {
    const isSaid = { code: 'SETTINGS_INVALID', message: /ALLOW_FIELDS: prot is not a field/ };
    assert.throws(() => readReconcilerSettings({ ...REQUIRED, ALLOW_FIELDS: 'port,prot' }), isSaid);
  });
});
