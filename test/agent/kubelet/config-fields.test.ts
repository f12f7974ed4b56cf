import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fieldsOfConfig } from '#agent/kubelet/config-fields.ts';

const config = (maxPods: number): Buffer =>
  Buffer.from(JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods }));

it('the last six configs are decoded once, each by what it says', () => {
  const first = fieldsOfConfig(config(1));
  for (const maxPods of [2, 3, 4, 5, 6]) assert.equal(fieldsOfConfig(config(maxPods))?.['maxPods'], maxPods);
  assert.equal(fieldsOfConfig(config(1)), first, 'kept');
  fieldsOfConfig(config(7));
  const again = fieldsOfConfig(config(1));
  assert.notEqual(again, first, 'forgotten');
  assert.deepEqual(again, first);
  const bytes = config(8);
  fieldsOfConfig(bytes);
  config(9).copy(bytes);
  assert.equal(fieldsOfConfig(bytes)?.['maxPods'], 9, 'the caller may write over its bytes');
});
