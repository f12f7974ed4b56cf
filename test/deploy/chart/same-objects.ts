import assert from 'node:assert/strict';
import type { Manifest } from './render.ts';

type Fields = Record<string, unknown>;

/**
 * @throws where the two are not the same objects. Told apart by nothing: the order of objects, variables, volumes, mounts and
 *   ports; and how other settings become other pods, which is a hash in the ConfigMap's name here and an annotation there.
 */
export function assertSameObjects(chart: readonly Manifest[], kustomization: readonly Manifest[]): void {
  const [ours, theirs] = [byName(chart), byName(kustomization)];
  assert.deepEqual(Object.keys(ours).toSorted(), Object.keys(theirs).toSorted());
  for (const [name, manifest] of Object.entries(ours)) assert.deepEqual(manifest, theirs[name], name);
}

function byName(manifests: readonly Manifest[]): Readonly<Record<string, unknown>> {
  const named = manifests.map((manifest) => {
    const plain = normal(manifest, '') as Manifest;
    return [`${plain.kind} ${plain.metadata.namespace ?? ''}/${plain.metadata.name}`, plain] as const;
  });
  assert.equal(new Set(named.map(([name]) => name)).size, named.length, 'no object is there twice');
  return Object.fromEntries(named);
}

const SORTED: Readonly<Record<string, string>> = {
  env: 'name',
  volumes: 'name',
  volumeMounts: 'mountPath',
  ports: 'name',
};

function normal(value: unknown, key: string): unknown {
  if (typeof value === 'string') return value.replace(/^(kubelet-gitops-settings)-[a-z0-9]{10}$/, '$1');
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value.map((item) => normal(item, ''));
    const by = SORTED[key];
    if (by === undefined) return items;
    return (items as readonly Fields[]).toSorted((a, b) => (String(a[by]) < String(b[by]) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name]) => name !== 'checksum/settings')
    .map(([name, inner]) => [name, normal(inner, name)] as const)
    .filter(([name, inner]) => name !== 'annotations' || Object.keys(inner as object).length > 0);
  return Object.fromEntries(entries);
}
