import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createConditionWriter } from '#reconciler/reporting/events/condition-writer.ts';
import type { Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import { viewNode } from '#reconciler/cluster/object-views.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Condition, KubeObject } from '#shared/contract/api/object.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { type Kube, KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { aSandbox, nodeNamed, type ApiServerSandbox } from '../../../sandbox/api-server/support/sandbox.ts';
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts';
import { until } from '../../../support/until.ts';
import { column } from '../../../support/columns.ts';

type Said = Pick<Condition, 'status' | 'reason' | 'message'>;

const HEALTHY: Said = { status: 'True', reason: 'Healthy', message: 'it runs web-1' };
const BROKEN: Said = { status: 'False', reason: 'Broken', message: 'nothing comes up' };

interface Bench {
  readonly sandbox: ApiServerSandbox;
  readonly clock: ManualClock;
  /** What the agent says from now on. */
  says(said: Said): void;
  conditions(): readonly Condition[];
  /** Lets the writer look once more, and waits until it rests again. */
  look(): Promise<void>;
  writes(): number;
}

async function writing(see: (bench: Bench) => Promise<void>): Promise<void> {
  await using sandbox = await aSandbox();
  const { store } = sandbox.server;
  const clock = createManualClock();
  store.seed(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } });
  const others = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' }];
  store.patch(NODES, 'a', { status: { conditions: others } });
  store.seed(KUBELET_NODES, nodeNamed('a'));
  let writes = 0;
  const fleet = (): Fleet => {
    const node: NodeView = viewNode(store.get(NODES, 'a') as KubeObject);
    const kubeletNode = store.get(KUBELET_NODES, 'a') as KubeletNode;
    return {
      nodes: new Map([['a', node]]),
      kubeletNodes: new Map([['a', kubeletNode]]),
      pools: new Map(),
      configSources: new Map(),
    };
  };
  const writer = createConditionWriter({
    kube: sandbox.kube,
    fleet,
    mayWrite: () => true,
    clock,
    log: silentLog,
    onOutcome: () => (writes += 1),
  });
  const stop = new AbortController();
  const running = writer.run(stop.signal);
  const resting = (): boolean => clock.sleeping().length > 0;
  await see({
    sandbox,
    clock,
    says: (said) =>
      void store.patch(KUBELET_NODES, 'a', {
        status: {
          heartbeat: toTimestamp(clock.now()),
          conditions: [{ type: 'KubeletConfigHealthy', lastTransitionTime: toTimestamp(clock.now()), ...said }],
        },
      }),
    conditions: () => (store.get(NODES, 'a') as { status?: { conditions?: Condition[] } }).status?.conditions ?? [],
    async look() {
      await until('the writer rests', resting);
      await clock.advance(61_000);
      await until('the writer rests', resting);
    },
    writes: () => writes,
  });
  stop.abort();
  await running;
}

const ours = (conditions: readonly Condition[]): string | undefined => {
  const found = conditions.find(({ type }) => type === 'KubeletConfigHealthy');
  return found && `${found.status} ${found.reason}`;
};

describe('the condition on a Node', () => {
  it('says what the agent says, beside the conditions of others, and is written only when that changes', async () => {
    await writing(async ({ says, conditions, look, writes, clock }) => {
      await look();
      assert.equal(ours(conditions()), undefined, 'no agent ever reported');
      says(HEALTHY);
      await look();
      assert.deepEqual(column(conditions(), 'type'), ['Ready', 'KubeletConfigHealthy']);
      assert.equal(ours(conditions()), 'True Healthy');
      for (let times = 0; times < 5; times += 1) {
        says(HEALTHY);
        await look();
      }
      assert.equal(writes(), 1);
      const since = conditions().at(-1)?.lastTransitionTime;
      await clock.advance(60_000);
      says(BROKEN);
      await look();
      assert.equal(ours(conditions()), 'False Broken');
      assert.notEqual(conditions().at(-1)?.lastTransitionTime, since);
      assert.equal(writes(), 2);
    });
  });

  it('is not fought over with somebody else who writes it', async () => {
    await writing(async ({ sandbox, says, conditions, look, writes, clock }) => {
      says(HEALTHY);
      await look();
      for (let minutes = 0; minutes < 9; minutes += 1) {
        const theirs = { type: 'KubeletConfigHealthy', status: 'False', reason: 'Theirs', message: '' };
        sandbox.server.store.patch(NODES, 'a', { status: { conditions: [theirs] } });
        says(HEALTHY);
        await look();
      }
      assert.equal(writes(), 1, 'stands back for ten minutes');
      await clock.advance(5 * 60_000);
      says(HEALTHY);
      await look();
      assert.equal(ours(conditions()), 'True Healthy');
    });
  });

  it('becomes Unknown when the agent falls silent', async () => {
    await writing(async ({ says, conditions, look, clock }) => {
      says(HEALTHY);
      await look();
      await clock.advance(16 * 60_000);
      await look();
      assert.equal(ours(conditions()), 'Unknown AgentSilent');
    });
  });
});

describe('a Node that a policy of the cluster lets nobody write to', () => {
  /** Three Nodes, the first of which refuses with this; `tried` is who was written to, in order. */
  async function refusing(code: 'KUBE_INVALID' | 'KUBE_FORBIDDEN', see: (seen: Refused) => Promise<void>) {
    const clock = createManualClock();
    const tried: string[] = [];
    const mergePatch = (_: unknown, name: string) => {
      tried.push(name);
      return name === 'a' ? Promise.reject(new KubeError(code, 'a policy says no')) : Promise.resolve({});
    };
    const names = ['a', 'b', 'c'];
    const at = (): string => toTimestamp(clock.now());
    const said = (name: string): KubeletNode => ({
      ...nodeNamed(name),
      status: {
        heartbeat: at(),
        conditions: [{ type: 'KubeletConfigHealthy', lastTransitionTime: at(), ...HEALTHY }],
      },
    });
    const fleet = (): Fleet => ({
      nodes: new Map(names.map((name) => [name, viewNode({ metadata: { name, uid: name } })])),
      kubeletNodes: new Map(names.map((name) => [name, said(name)])),
      pools: new Map(),
      configSources: new Map(),
    });
    const kube = { mergePatch } as unknown as Kube;
    const onOutcome = (): void => undefined;
    const writer = createConditionWriter({ kube, fleet, mayWrite: () => true, clock, log: silentLog, onOutcome });
    const stop = new AbortController();
    const running = writer.run(stop.signal);
    await see({ clock, tried });
    stop.abort();
    await running;
  }

  interface Refused {
    readonly clock: ManualClock;
    readonly tried: readonly string[];
  }

  it('holds up no other, and is tried again after a while', () =>
    refusing('KUBE_INVALID', async ({ clock, tried }) => {
      await clock.advance(0);
      assert.deepEqual(tried, ['a', 'b', 'c']);
      await clock.advance(9 * 60_000);
      assert.equal(tried.filter((name) => name === 'a').length, 1);
      await clock.advance(2 * 60_000);
      assert.equal(tried.filter((name) => name === 'a').length, 2);
    }));

  it('holds up the others for a moment only, where an admission webhook refuses as if a right were missing', () =>
    refusing('KUBE_FORBIDDEN', async ({ clock, tried }) => {
      await clock.advance(0);
      assert.deepEqual(tried, ['a']);
      await clock.advance(2 * 60_000);
      assert.deepEqual(tried, ['a', 'b', 'c']);
    }));
});
