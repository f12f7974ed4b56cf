import { isDeepStrictEqual } from 'node:util';
import type { KubeletPoolSpec, LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import { selectorText } from '#reconciler/cluster/blockers/blocking-pods.ts';
import type { ClusterConfig, LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { yamlValue } from '../yaml-value.ts';
import { isMap } from '#shared/runtime/maps.ts';

/** What of a pool's spec changes besides the config, as `rollout.maxUnavailable: 1 → 2`. */
export function specChanges(before: KubeletPoolSpec, after: KubeletPoolSpec): readonly string[] {
  const { keepFields: _, ...old } = before;
  // It follows from the lists of fields.
  const { keepFields: __, ...now } = after;
  return changesIn('', old, now);
}

/** What of a cluster's file changes, where both revisions have one that can be read. */
export function clusterChanges(before: ClusterConfig, after: ClusterConfig): readonly string[] {
  const written = (cluster: ClusterConfig): Map_ => ({ ...cluster, unreadable: undefined, missing: undefined });
  return changesIn('', written(before), written(after));
}

/** What is said of a file of a cluster for which nothing could begin before, as others had a file and it had none. */
export const NEW_CLUSTER = 'is new';

export const isNewCluster = ({ cluster: { missing, unreadable } }: LoadedRepo): boolean =>
  missing === true && unreadable !== undefined;

/** Selectors and lists are shown whole: a part of one says little. */
const WHOLE = new Set(['nodeSelector', 'layers']);

type Map_ = Readonly<Record<string, unknown>>;

function changesIn(prefix: string, before: Map_, after: Map_): readonly string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => {
    const [old, now] = [before[key], after[key]];
    if (isDeepStrictEqual(old, now)) return [];
    const path = `${prefix}${key}`;
    if (isMap(old) && isMap(now) && !WHOLE.has(key)) return changesIn(`${path}.`, old, now);
    const say = key === 'nodeSelector' ? showSelector : show;
    return [`${path}: ${say(old)} → ${say(now)}`];
  });
}

const show = (value: unknown): string => {
  if (value === null || value === undefined) return 'not set';
  return typeof value === 'string' ? value : yamlValue(value);
};

/** As kubectl writes one. @param value of a spec that was read, so that it is one */
const showSelector = (value: unknown): string => selectorText(value as LabelSelector) || 'every node';
