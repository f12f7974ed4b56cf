import { type KubeletNode, type KubeletNodeSpec, LOCAL } from '#shared/contract/api/kubelet-node.ts';
import type { Condition } from '#shared/contract/api/object.ts';
import type { KubeletPool, KubeletPoolSpec, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { unreachable } from '#shared/runtime/errors.ts';
import type { DrainMark, FailedDrain } from './fleet.ts';
import type { DesiredConfig } from './config-map-name.ts';

/**
 * One write to the cluster. Each is safe to repeat, and is refused by the API server when the object that it was decided
 * on has changed since.
 */
export type Step =
  | {
      readonly step: 'create-config-source';
      readonly pool: string;
      readonly config: DesiredConfig & { readonly payload: string };
      readonly commit: string;
    }
  | {
      readonly step: 'delete-config-source';
      readonly name: string;
      readonly uid: string;
      readonly because: 'tampered' | 'unused';
    }
  /** `at`: when its Node was first seen, by the reconciler's clock. */
  | { readonly step: 'create-node'; readonly node: string; readonly uid: string; readonly at: Millis }
  | { readonly step: 'delete-node'; readonly node: string; readonly uid: string }
  /** Keeps in annotations of a KubeletNode what has to outlast a restart of the reconciler; null takes an annotation away. */
  | {
      readonly step: 'remember';
      readonly node: string;
      readonly present: KubeletNode;
      readonly annotations: Readonly<Record<string, string | null>>;
    }
  /**
   * Tells a node what to run: another config, or the same with leave to restart its kubelet (`assign`), its local config, or the same
   * with other trial settings (`amend`).
   */
  | {
      readonly step: 'assign' | 'unassign' | 'amend';
      readonly node: KubeletNode;
      readonly spec: KubeletNodeSpec;
      readonly because: string;
    }
  /** Keeps new pods off a node and marks it as ours; evicts what is there; lets pods back on. */
  | { readonly step: 'cordon'; readonly node: string; readonly uid: string; readonly mark: DrainMark }
  | { readonly step: 'evict'; readonly node: string; readonly since: Millis }
  | { readonly step: 'uncordon'; readonly node: string; readonly uid: string; readonly failed: FailedDrain | null }
  /** Only looks, so that it is known in the next pass. */
  | { readonly step: 'count-pods'; readonly node: string; readonly at: Millis }
  /** Lets pods onto a node that came with our taint. */
  | { readonly step: 'untaint'; readonly node: string; readonly uid: string; readonly because: string }
  | { readonly step: 'create-pool'; readonly pool: string; readonly spec: KubeletPoolSpec }
  | { readonly step: 'write-pool'; readonly pool: KubeletPool; readonly spec: KubeletPoolSpec }
  | { readonly step: 'write-pool-status'; readonly pool: KubeletPool; readonly status: KubeletPoolStatus }
  /** Reports that nothing can be decided about a pool. The rest of its status stays: it is unreadable. */
  | { readonly step: 'hold-pool'; readonly pool: string; readonly conditions: readonly Condition[] }
  | { readonly step: 'delete-pool'; readonly pool: string; readonly uid: string };

export interface PlanSettings {
  /** Namespace of the config sources. */
  readonly namespace: string;
  /** A config source that nothing refers to is deleted when it is older than this. */
  readonly keepUnusedMs: Millis;
}

/** What a step is about, by name. */
interface StepSubject {
  readonly node?: string;
  readonly pool?: string | undefined;
  /** A config source; `local` where a node is to run its own config. */
  readonly config?: string;
  readonly commit?: string | undefined;
}

export function subjectOf(step: Step): StepSubject {
  switch (step.step) {
    case 'create-config-source':
      return { pool: step.pool, config: step.config.name, commit: step.commit };
    case 'delete-config-source':
      return { config: step.name };
    case 'create-node':
    case 'delete-node':
    case 'cordon':
    case 'evict':
    case 'uncordon':
    case 'untaint':
    case 'count-pods':
    case 'remember':
      return { node: step.node };
    case 'assign':
    case 'unassign':
    case 'amend':
      return {
        node: step.node.metadata.name,
        pool: step.spec.pool,
        config: step.spec.configSource?.name ?? LOCAL,
        commit: step.spec.commit,
      };
    case 'create-pool':
    case 'delete-pool':
    case 'hold-pool':
      return { pool: step.pool };
    case 'write-pool':
    case 'write-pool-status':
      return { pool: step.pool.metadata.name };
    default:
      return unreachable(step);
  }
}
