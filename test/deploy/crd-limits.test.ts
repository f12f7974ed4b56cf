import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { parse } from 'yaml';
import { customResource } from '#sandbox/api-server/resources/custom.ts';
import { createValidator } from '#sandbox/api-server/schema/validator.ts';
import { API_VERSION } from '#shared/contract/api/group.ts';
import { LIMITS, read } from '../reconciler/policy/config-repo/support/limits.ts';

it('a KubeletPool holds the last that a pool.yaml may say: an API server would refuse it after the merge', async () => {
  const crd = await readFile(new URL('../../deploy/crds/kubeletpools.yaml', import.meta.url), 'utf8');
  const judge = createValidator(customResource(parse(crd)).schema);
  for (const [what, last] of LIMITS) {
    const { spec } = read(last);
    assert.deepEqual(judge({ apiVersion: API_VERSION, kind: 'KubeletPool', spec }), [], what);
  }
});
