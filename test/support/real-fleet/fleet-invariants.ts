import assert from 'node:assert/strict';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { RealFleet } from './real-fleet.ts';

/** What the pool promises of one config, in the words of docs/rollouts.md. */
export interface FleetLimits {
  /** The config, and how kubelets that run it are known. */
  readonly configName: string;
  readonly maxPods: number;
  readonly maxUnavailable: number;
  readonly maxOnTrial: number;
  readonly probationMs: Millis;
  /** Of the canary. */
  readonly trialMs: Millis;
}

export interface Seen {
  /** Nodes that were told the config. */
  told: number;
  mostAway: number;
  mostOnTrial: number;
}

/**
 * Holds a rollout to its bounds, by what is written to the API server, by what kubelets run, and by this clock: what agents say of
 * health and of trials is not asked. The look is for every moment at which all is at rest.
 *
 * @returns the look; what it saw, which goes on
 */
export function assertFleetInvariants(
  fleet: RealFleet,
  promises: FleetLimits,
): { readonly look: () => void; readonly seen: Seen } {
  const { cluster, clock, nodes } = fleet;
  const { configName, maxPods, maxUnavailable, maxOnTrial, probationMs, trialMs } = promises;
  let read = cluster.written.length;
  const told = new Set<string>();
  const promoted = new Set<string>();
  /** Since when their kubelets run the config without a break, and their Nodes are Ready. */
  const wellSince = new Map<string, Millis>();
  const down = new Set<string>();
  const seen: Seen = { told: 0, mostAway: 0, mostOnTrial: 0 };

  const lookAtMachines = (): void => {
    down.clear();
    for (const [name, { kubelet }] of nodes) {
      const running = kubelet.running();
      const isWell = running !== null && isReady(cluster.objects.get(NODES, name));
      if (!isWell) down.add(name);
      const hasIt = running?.['maxPods'] === maxPods;
      assert.ok(!hasIt || told.has(name), `${name} runs what nobody told it`);
      if (isWell && hasIt) wellSince.set(name, wellSince.get(name) ?? clock.monotonic());
      else wellSince.delete(name);
    }
  };
  const wellFor = (name: string): Millis => clock.monotonic() - (wellSince.get(name) ?? Infinity);
  const check = (): void => {
    const onTrial = told.size - promoted.size;
    const past = [...told].filter((name) => promoted.has(name) || wellFor(name) >= probationMs);
    const away = new Set([...down, ...[...told].filter((name) => !past.includes(name))]).size;
    const allowed = promoted.size === 0 ? 1 : Math.min(maxOnTrial, boundAfter(past.length));
    assert.ok(away <= maxUnavailable, `${away} are away, where maxUnavailable is ${maxUnavailable}`);
    assert.ok(onTrial <= allowed, `${onTrial} on trial after ${past.length} passed, where ${allowed} may`);
    seen.told = told.size;
    seen.mostAway = Math.max(seen.mostAway, away);
    seen.mostOnTrial = Math.max(seen.mostOnTrial, onTrial);
  };
  const hear = ({ metadata: { name }, spec, status }: KubeletNode): void => {
    if (spec?.configSource?.name === configName) told.add(name);
    if (status?.lastKnownGood?.name !== configName || promoted.has(name)) return;
    if (promoted.size === 0) {
      assert.ok(wellFor(name) >= trialMs, `the canary promoted it after ${wellFor(name) / 1000} s without a break`);
    }
    promoted.add(name);
  };

  return {
    seen,
    look() {
      lookAtMachines();
      for (const { resource, after } of cluster.written.slice(read)) {
        if (resource.plural !== KUBELET_NODES.plural || after === null) continue;
        hear(after as KubeletNode);
        check();
      }
      read = cluster.written.length;
      check();
    },
  };
}

/** It doubles whenever as many as it allows have passed. */
function boundAfter(passed: number): number {
  let allowed = 1;
  while (allowed <= passed) allowed *= 2;
  return allowed;
}

function isReady(node: KubeObject | undefined): boolean {
  const { status } = (node ?? {}) as { status?: { conditions?: readonly { type: string; status: string }[] } };
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}
