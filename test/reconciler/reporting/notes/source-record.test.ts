import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createSourceRecord } from '#reconciler/reporting/notes/source-record.ts';
import { NO_STATE, type StateConfigMap } from '#reconciler/reporting/notes/source-state.ts';
import type { Kube } from '#shared/kube/kube.ts';

it('the record is not written again because a webhook made something else of it', async () => {
  let writes = 0;
  const answer = (object: object): Promise<object> => {
    writes += 1;
    const { data, ...rest } = object as StateConfigMap;
    return Promise.resolve({ ...rest, metadata: { name: 'x' }, data: { ...data, url: 'another' } });
  };
  const kube = {
    get: () => Promise.resolve(null),
    create: (_: unknown, object: object) => answer(object),
    mergePatch: (_: unknown, __: string, object: object) => answer(object),
  } as unknown as Kube;
  const record = createSourceRecord(kube, 'kubelet-gitops');
  const { signal } = new AbortController();
  for (let pass = 0; pass < 20; pass += 1) await record.save({ ...NO_STATE, url: 'one' }, signal);
  assert.equal(writes, 1);
  await record.save({ ...NO_STATE, url: 'one', subject: 'another commit' }, signal);
  assert.equal(writes, 2);
});
