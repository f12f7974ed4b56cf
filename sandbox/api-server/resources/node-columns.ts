import { isJson, memberOf, type StoredObject } from '#sandbox/api-server/stored-object.ts';
import { AGE_COLUMN, type Column, column, NAME_COLUMN } from '#sandbox/api-server/table/column.ts';

/** What `kubectl get nodes` prints, without the wide columns (kubernetes/pkg/printers/internalversion). */
export const NODE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Status', statusOf, { description: 'The status of the node' }),
  column('Roles', rolesOf, { description: 'The roles of the node' }),
  AGE_COLUMN,
  column('Version', versionOf, { description: 'Kubelet Version reported by the node.' }),
];

function statusOf(node: StoredObject): string {
  const conditions = memberOf(node, 'status', 'conditions');
  const ready = Array.isArray(conditions)
    ? conditions.filter(isJson).find((condition) => condition['type'] === 'Ready')
    : undefined;
  const readiness = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return memberOf(node, 'spec', 'unschedulable') === true ? `${readiness},SchedulingDisabled` : readiness;
}

const ROLE = 'node-role.kubernetes.io/';

function rolesOf({ metadata: { labels = {} } }: StoredObject): string {
  const roles = Object.entries(labels).flatMap(([label, value]) => {
    if (label.startsWith(ROLE) && label !== ROLE) return [label.slice(ROLE.length)];
    return label === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return roles.length === 0 ? '<none>' : roles.sort().join(',');
}

function versionOf(node: StoredObject): string {
  const version = memberOf(node, 'status', 'nodeInfo', 'kubeletVersion');
  return typeof version === 'string' ? version : '';
}
