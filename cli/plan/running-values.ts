import { diffPayloads, type FieldChange } from '#shared/contract/kubelet-config/field-diff.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';

/**
 * Fields that were not set, with what the nodes run before the change: `"512Mi" on 29, "2Gi" on 7`. A field stays unset where the value
 * of any node is unknown, and is left out where all nodes run the new value already.
 */
export function withRunningValues(
  fields: readonly FieldChange[],
  nodes: readonly InventoryNode[],
): readonly FieldChange[] {
  const running = nodes.map((node) => node.running);
  if (nodes.length === 0 || running.includes(undefined) || fields.every(({ before }) => before !== undefined))
    return fields;
  const values = running.map((config) => new Map(diffPayloads(null, config ?? {}).map((each) => [each.path, each])));
  return fields.flatMap((field) => {
    if (field.before !== undefined) return field;
    const texts = values.map((of) => of.get(field.path)?.after ?? 'not set');
    const groups = [...Map.groupBy(texts, (text) => text)].toSorted(([, a], [, b]) => b.length - a.length);
    const [only] = groups;
    if (groups.length === 1 && only !== undefined) {
      if (only[0] === field.after) return [];
      return only[0] === 'not set' ? field : { ...field, before: only[0] };
    }
    return { ...field, before: groups.map(([text, same]) => `${text} on ${same.length}`).join(', ') };
  });
}
