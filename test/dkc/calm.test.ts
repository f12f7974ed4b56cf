import assert from 'node:assert/strict';
import { createReporter } from '#agent/report/status-reporter.ts';
import { nodeReportOf } from '#agent/report/kubelet-node-status.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { type Kube, KUBELET_NODES } from '#shared/kube/kube.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createFakeKube } from '../support/agent/fake-kube.ts';
import { A, idle, seen } from '../support/agent/states.ts';
import { isIdleOn } from '../support/agent/whole-node-stories.ts';
import { NODE, payloadOf } from '../support/agent/whole-node.ts';
import {
  commit,
  COMMIT_B,
  configSource,
  fleetOf,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../support/fleet.ts';
import { see } from './scenario.ts';
import {
  GOOD,
  INVALID,
  ON_LOCAL,
  OTHER_GOOD,
  SHORT,
  sourceOf,
  expectedNodeOn,
  stepped,
  type Stepped,
} from './support/steps.ts';

const TEN_MINUTES = { duration: '10m', startTimeout: '30s', maxRestarts: 2 };

const healthySeconds = (on: Stepped): number => on.node.status().trial?.healthySeconds ?? 0;

/** A node with a ten minutes' trial of 150 pods, and nothing before, so many seconds into it. */
async function onTrial(seconds: number, options: Parameters<typeof stepped>[0] = {}) {
  const on = stepped(options);
  await on.node.until('well', on.node.kubelet.isHealthy);
  const name = on.assign(OTHER_GOOD, TEN_MINUTES);
  await on.node.until('on trial', () => healthySeconds(on) >= seconds);
  return { on, name };
}

export const scenarios = see('what comes in between', [
  {
    dkc: 183,
    title:
      'a config that was healthy for nine minutes of ten is not good: the way back from the next one leads past it',
    async see() {
      const { on, name } = await onTrial(540, { fates: { 160: 'dies' } });
      on.expect({ assigned: name, active: name, good: 'local', maxPods: 150 });
      const bad = on.assign(payloadOf({ maxPods: 160 }));
      await on.rest();
      on.expect({ ...ON_LOCAL, assigned: bad, error: 'CrashLoop' });
      // Nobody said anything against it: it is tried, for its full time, when it is assigned again.
      on.assign(OTHER_GOOD);
      await on.node.until('on trial again', () => on.node.status().phase === 'Trial');
      await on.rest();
      on.expect(expectedNodeOn(name, 150));
    },
  },
  {
    dkc: 184,
    title: 'news that bring nothing new do not start the time of a trial again',
    async see() {
      const { on, name } = await onTrial(300);
      const before = on.node.clock.monotonic();
      const since = on.node.status().trial?.since;
      for (let minute = 0; minute < 4; minute += 1) {
        on.assign(OTHER_GOOD, TEN_MINUTES);
        await on.node.pass(30_000);
        // The watch begins again.
        on.node.kube.setAway(true);
        on.node.kube.setAway(false);
        await on.node.pass(30_000);
      }
      assert.ok(healthySeconds(on) >= 500, String(healthySeconds(on)));
      assert.equal(on.node.status().trial?.since, since);
      await on.node.until('promoted', isIdleOn(on.node, name));
      assert.ok(on.node.clock.monotonic() - before < 330_000);
      assert.equal(on.node.kubelet.starts(), 2);
    },
  },
  {
    dkc: 185,
    title: 'a clock that jumps by an hour, either way and as often as it likes, changes no trial',
    async see() {
      const { on, name } = await onTrial(60);
      const { clock } = on.node;
      const began = clock.monotonic();
      const wall = clock.now;
      for (let jump = 0; isTrial(on); jump += 1) {
        const hours = [1, -1, 0, 24][jump % 4] ?? 0;
        Object.assign(clock, { now: () => wall() + hours * 3_600_000 });
        await on.node.pass(20_000);
      }
      assert.ok(isIdleOn(on.node, name)());
      const took = (clock.monotonic() - began) / 1000;
      assert.ok(took >= 500 && took < 580, `${took} seconds`);
      assert.equal(on.node.kubelet.starts(), 2);
    },
  },
  {
    dkc: 186,
    title: 'a label on the ConfigMap makes it another version, and restarts nothing',
    async see() {
      const on = stepped();
      const name = on.assign(GOOD);
      await on.rest();
      const metadata = { name, namespace: 'kubelet-gitops', uid: `uid-${name}`, labels: { looked: 'at' } };
      on.node.kube.put('configmaps', { metadata, data: { kubelet: GOOD } });
      await on.node.pass(60_000);
      // No reconciler of ours tells a node of it; one that did would change as little.
      assert.deepEqual(stepsAfterLabelling(), []);
      on.spec({ configSource: sourceOf(name, GOOD, { resourceVersion: '8' }), trial: SHORT });
      await on.node.pass(600_000);
      on.expect(expectedNodeOn(name, 100));
      assert.equal(on.node.kubelet.starts(), 2);
      assert.equal(on.node.kubelet.orders.length, 1);
    },
  },
  {
    dkc: 187,
    title: 'an error goes with the assignment that it is about',
    async see() {
      const on = stepped();
      for (const fail of [
        () => on.assign(INVALID),
        () => on.spec({ configSource: sourceOf('general-gone2gone2', GOOD), trial: SHORT }),
        () => on.spec({ configSource: sourceOf('general-2gmf6b4k8c', GOOD, { uid: '..' }) }),
      ]) {
        fail();
        await on.node.until('told', () => on.node.status().error !== undefined);
        on.unassign();
        await on.node.until('forgotten', () => on.node.status().error === undefined);
        await on.rest();
        on.expect(ON_LOCAL);
        assert.equal(on.node.kubelet.starts(), 1);
      }
    },
  },
  {
    dkc: 188,
    title: 'a status that could not be written is written later, although nothing changed since',
    async see() {
      const kube = createFakeKube();
      const clock = createManualClock();
      let failures = 0;
      const failing: Kube = {
        ...kube,
        mergePatch(...call) {
          failures += 1;
          if (failures === 1) throw new KubeError('KUBE_UNREACHABLE', 'the connection broke');
          return kube.mergePatch(...call);
        },
      };
      kube.assign(NODE, {});
      const reporter = createReporter({ kube: failing, nodeName: NODE, clock, random: () => 0.5, log: silentLog });
      const end = new AbortController();
      const running = reporter.run(end.signal);
      reporter.received(await kube.get<KubeletNode>({ resource: KUBELET_NODES }, NODE));
      const about = { seen: seen(), actions: [], agentVersion: 'test', fault: null, diskProblems: [] };
      reporter.report(nodeReportOf({ ...about, state: idle(A) }));
      await clock.advance(0);
      assert.deepEqual([failures, kube.status(NODE)], [1, {}]);
      await clock.advance(5_000);
      assert.deepEqual([failures, kube.status(NODE).active?.name], [2, A.source.name]);
      end.abort();
      await clock.advance(0);
      await running;
    },
  },
]);

/** What a reconciler writes to a settled fleet whose config source got another resourceVersion. */
function stepsAfterLabelling(): readonly string[] {
  const node = nodeView('a', 'workers');
  const pool = validPool('workers', 100);
  const fleet = fleetOf({
    nodes: [node],
    kubeletNodes: [settledNode(node, pool)],
    configSources: [configSource(pool, { resourceVersion: '4711' })],
    pools: [poolInCluster(pool)],
  });
  const desired = desiredState(commit(COMMIT_B, pool), fleet, () => []);
  const { steps } = plan(desired, fleet, { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 }, NOW);
  return steps.map(({ step }) => step).filter((step) => step !== 'write-pool-status');
}

const isTrial = (on: Stepped): boolean => on.node.status().phase === 'Trial';
