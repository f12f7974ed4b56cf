import { CLUSTER_FIELDS } from './cluster.ts';
import { EVICTION_FIELDS } from './eviction.ts';
import { atMinor, type Field } from './field.ts';
import { IMAGES_FIELDS } from './images.ts';
import { LOGGING_FIELDS } from './logging.ts';
import { PODS_FIELDS } from './pods.ts';
import { RESOURCES_FIELDS } from './resources.ts';
import { SERVING_FIELDS } from './serving.ts';

/**
 * Every field of `kubelet.config.k8s.io/v1beta1` KubeletConfiguration that kubelets from 1.20 to 1.37 have, by path
 * (`authentication.webhook.cacheTTL`, `reservedMemory[].limits`). Schema, validation, plans and documentation come from
 * this one table.
 */
export const FIELDS: ReadonlyMap<string, Field> = new Map<string, Field>(
  [
    SERVING_FIELDS,
    CLUSTER_FIELDS,
    IMAGES_FIELDS,
    RESOURCES_FIELDS,
    EVICTION_FIELDS,
    PODS_FIELDS,
    LOGGING_FIELDS,
  ].flatMap((fields) => Object.entries(fields)),
);

/** The two fields that every file has besides those of the table. */
export const TYPE_FIELDS = ['apiVersion', 'kind'] as const;

export function existsIn(field: Field, minor: number): boolean {
  return minor >= (field.since ?? 0) && minor <= (field.until ?? Infinity);
}

/** Whether the kubelets of this minor take zero, false or the empty text in it for "unset". */
export const hasUnsetZero = ({ pointer, pointerSince = 0 }: Field, minor: number): boolean =>
  pointer !== true || minor < pointerSince;

/** What a kubelet of this minor works with where the field is unset. */
export function defaultOf(field: Field, minor: number): unknown {
  return atMinor<unknown>(field.default, field.defaultBefore, minor);
}

export function valuesOf(field: Field, minor: number): readonly string[] | undefined {
  return atMinor(field.values, field.valuesBefore, minor);
}

/** Names of the fields one level below a path (`''` for the root), without those of nested structs. */
export function childrenOf(path: string): readonly string[] {
  return CHILDREN.get(path) ?? [];
}

const CHILDREN: ReadonlyMap<string, readonly string[]> = groupByParent();

function groupByParent(): Map<string, string[]> {
  const children = new Map<string, string[]>();
  for (const path of FIELDS.keys()) {
    const dot = path.lastIndexOf('.');
    const parent = path.slice(0, Math.max(dot, 0));
    children.set(parent, [...(children.get(parent) ?? []), path.slice(dot + 1)]);
  }
  return children;
}
