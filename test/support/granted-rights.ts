import type { ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import { isJson, type Json, memberOf } from '#sandbox/api-server/stored-object.ts';

/** One rule of a Role or ClusterRole; `namespace` is undefined for all namespaces. */
interface Rule {
  readonly namespace: string | undefined;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames: readonly string[];
}

/**
 * What manifests grant to a service account: Roles and ClusterRoles through their bindings, so that the sandbox can let
 * a program do exactly what its installation allows.
 *
 * @param manifests decoded objects of any kind
 */
export function grantedTo(
  account: { readonly namespace: string; readonly name: string },
  manifests: readonly unknown[],
): (call: ResourceCall) => boolean {
  const objects = manifests.filter(isJson);
  const rules = objects.filter((object) => bindsTo(object, account)).flatMap((binding) => rulesOf(binding, objects));
  return (call) => rules.some((rule) => covers(rule, call));
}

function bindsTo(
  { kind, subjects }: Json,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean {
  if ((kind !== 'RoleBinding' && kind !== 'ClusterRoleBinding') || !Array.isArray(subjects)) return false;
  return subjects
    .filter(isJson)
    .some(
      (subject) =>
        subject['kind'] === 'ServiceAccount' && subject['name'] === name && subject['namespace'] === namespace,
    );
}

function rulesOf(binding: Json, objects: readonly Json[]): readonly Rule[] {
  const { kind, name } = memberOf(binding, 'roleRef') as { readonly kind: string; readonly name: string };
  const namespace = memberOf(binding, 'metadata', 'namespace') as string | undefined;
  const role = objects.find(
    (object) =>
      object['kind'] === kind &&
      memberOf(object, 'metadata', 'name') === name &&
      (kind === 'ClusterRole' || memberOf(object, 'metadata', 'namespace') === namespace),
  );
  const rules = Array.isArray(role?.['rules']) ? role['rules'].filter(isJson) : [];
  return rules.map((rule) => ({
    namespace: binding['kind'] === 'RoleBinding' ? namespace : undefined,
    apiGroups: textsIn(rule, 'apiGroups'),
    resources: textsIn(rule, 'resources'),
    verbs: textsIn(rule, 'verbs'),
    resourceNames: textsIn(rule, 'resourceNames'),
  }));
}

const textsIn = (rule: Json, key: string): readonly string[] => {
  const value = rule[key];
  return Array.isArray(value) ? value.map(String) : [];
};

function covers(rule: Rule, { verb, group, resource, subresource, namespace, name }: ResourceCall): boolean {
  const among = (list: readonly string[], value: string): boolean => list.includes('*') || list.includes(value);
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  return (
    (rule.namespace === undefined || rule.namespace === namespace) &&
    among(rule.apiGroups, group) &&
    among(rule.resources, full) &&
    among(rule.verbs, verb) &&
    (rule.resourceNames.length === 0 || (name !== undefined && rule.resourceNames.includes(name)))
  );
}
