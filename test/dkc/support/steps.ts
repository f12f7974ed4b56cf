import assert from 'node:assert/strict';
import type { ConfigSource, KubeletNodeSpec, TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import { payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { createWholeNode, NODE, payloadOf, type WholeNode } from '../../support/agent/whole-node.ts';

export const SHORT: TrialSpec = { duration: '10s', startTimeout: '30s', maxRestarts: 2 };

/** What a node was provisioned with. */
export const LOCAL_PODS = 42;
export const GOOD = payloadOf({ maxPods: 100 });
export const OTHER_GOOD = payloadOf({ maxPods: 150 });
export const UNREADABLE = '{0xdeadbeef}';
export const INVALID = payloadOf({ kubeAPIQPS: -1 });

/** A node whose every step is looked at: what its KubeletNode says, and what its kubelet runs. */
export interface Stepped {
  readonly node: WholeNode;
  /** Puts a ConfigMap under kubectl's name for its content and assigns it. @returns its name */
  assign(payload: string, trial?: TrialSpec): string;
  /** Puts any spec at all. */
  spec(spec: KubeletNodeSpec): void;
  unassign(): void;
  /** Lets time pass until the node has heard of the spec and is at rest. */
  rest(): Promise<void>;
  /** Compares names, the error's reason, and `maxPods` of the running kubelet; and that the spec is what was written. */
  expect(expected: ExpectedNode): void;
  stop(): Promise<void>;
}

export interface ExpectedNode {
  readonly assigned: string;
  readonly active: string;
  readonly good: string;
  readonly error?: string;
  readonly maxPods: number;
}

export const expectedNodeOn = (name: string, maxPods: number): ExpectedNode => ({
  assigned: name,
  active: name,
  good: name,
  maxPods,
});

export const ON_LOCAL = expectedNodeOn('local', LOCAL_PODS);

export function stepped(options: Parameters<typeof createWholeNode>[0] = {}): Stepped {
  const node = createWholeNode(options);
  let generation = 0;
  let spec: KubeletNodeSpec | undefined;
  const told = (): void => {
    generation = (node.status().observedGeneration ?? 0) + 1;
    spec = structuredClone(node.kube.objects().find(([plural]) => plural === 'kubeletnodes')?.[1] as never)['spec'];
  };
  return {
    node,
    assign(payload, trial = SHORT) {
      const name = node.assign({}, { payload, trial });
      told();
      return name;
    },
    spec(next) {
      node.kube.assign(NODE, next);
      told();
    },
    unassign() {
      node.unassign();
      told();
    },
    rest: () =>
      node.until('at rest', () => {
        const { observedGeneration = 0, phase } = node.status();
        return observedGeneration >= generation && phase === 'Idle';
      }),
    expect({ assigned, active, good, error, maxPods }) {
      const status = node.status();
      const names = [status.assigned?.name, status.active?.name, status.lastKnownGood?.name];
      assert.deepEqual([...names, status.error?.reason, node.maxPods()], [assigned, active, good, error, maxPods]);
      const present = node.kube.objects().find(([plural]) => plural === 'kubeletnodes')?.[1];
      assert.deepEqual(present?.['spec'], spec, 'an agent writes no spec');
    },
    stop: () => node.stop(),
  };
}

/** A source as the reconciler writes it. */
export const sourceOf = (name: string, payload: string, part: Partial<ConfigSource> = {}): ConfigSource => ({
  namespace: 'kubelet-gitops',
  name,
  uid: `uid-${name}`,
  resourceVersion: '7',
  key: 'kubelet',
  sha256: payloadSha256(payload),
  ...part,
});
