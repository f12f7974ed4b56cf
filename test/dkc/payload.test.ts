import assert from 'node:assert/strict';
import { intentOf } from '#agent/decide/assignment/intent.ts';
import { nodeReportOf, statusOf } from '#agent/report/kubelet-node-status.ts';
import type { ConfigSource, KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import { A, idle, seen } from '../support/agent/states.ts';
import { payloadOf } from '../support/agent/whole-node.ts';
import { see, table } from './scenario.ts';
import { stagingBench } from './support/staging.ts';

const PAYLOAD = payloadOf({ maxPods: 100 });

/** What an agent makes of A's assignment without one part of its source. */
function intentWithout(part: keyof ConfigSource): ReturnType<typeof intentOf> {
  const { [part]: _, ...source } = A.source;
  const spec: KubeletNodeSpec = { pool: 'general', configSource: source as ConfigSource };
  return intentOf({ metadata: { name: 'node-1' }, spec });
}

const account = nodeReportOf({
  state: idle(A),
  seen: seen(),
  actions: [],
  agentVersion: 'test',
  fault: null,
  diskProblems: [],
});
const active = () => statusOf(account, {}).active;

export const scenarios = see('what a config source carries', [
  {
    dkc: 3,
    title: 'a config source that is not there is waited for, and named',
    async see() {
      const bench = stagingBench();
      const staged = await bench.stage(A);
      assert.ok(staged.outcome === 'unavailable');
      assert.equal(staged.failure.reason, 'ConfigMapNotFound');
      assert.match(staged.failure.message, /kubelet-gitops\/general-aaaaaaaaaa is not there/);
    },
  },
  ...table(
    4,
    ['uid', 'resourceVersion'] as const,
    (part) => `an assignment without ${part} is no assignment, and changes nothing`,
    (part) => {
      const intent = intentWithout(part);
      assert.ok(intent.intent === 'invalid');
      assert.equal(intent.failure.reason, 'InvalidAssignment');
      assert.match(intent.failure.message, new RegExp(`spec\\.configSource\\.${part} is missing`));
    },
  ),
  {
    dkc: 6,
    title: 'what lies on the disk is the payload, byte by byte',
    async see() {
      const bench = stagingBench();
      const config = bench.source({ kubelet: PAYLOAD });
      assert.deepEqual(await bench.stage(config), { outcome: 'ready', warnings: [] });
      const { uid, resourceVersion } = config.source;
      const path = `/var/lib/kubelet-gitops/checkpoints/${uid}/${resourceVersion}/kubelet`;
      assert.equal(bench.disk.tree()[path], PAYLOAD);
    },
  },
  { dkc: 7, title: 'the status says the uid of what runs', see: () => assert.equal(active()?.uid, 'uid-a') },
  { dkc: 8, title: 'and its resourceVersion', see: () => assert.equal(active()?.resourceVersion, '41') },
  ...table(
    9,
    [
      ['no data', null],
      ['empty data', {}],
    ] as const,
    ([what]) => `a ConfigMap with ${what} has nothing for the kubelet, and that is said`,
    async ([, data]) => {
      const bench = stagingBench();
      const staged = await bench.stage(bench.source(data));
      assert.ok(staged.outcome === 'unavailable');
      assert.equal(staged.failure.reason, 'PayloadMismatch');
      assert.match(staged.failure.message, /has no key kubelet/);
      assert.deepEqual(await bench.disk.list('/var/lib/kubelet-gitops/checkpoints'), []);
    },
  ),
  {
    dkc: 11,
    title: 'of a ConfigMap with several keys, the named one is taken as it is, and the others are left there',
    async see() {
      const bench = stagingBench();
      const config = bench.source({ kubelet: PAYLOAD, other: 'x' });
      assert.equal((await bench.stage(config)).outcome, 'ready');
      const texts = Object.entries(bench.disk.tree()).filter(([path]) => path.includes('/checkpoints/'));
      assert.deepEqual(
        texts.map(([, text]) => text).filter((text) => text !== '(directory)'),
        [PAYLOAD],
      );
    },
  },
]);
