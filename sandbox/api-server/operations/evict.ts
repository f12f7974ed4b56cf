import type { LabelRequirement, LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import type { ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import type { Api } from '#sandbox/api-server/api.ts';
import { get } from '#sandbox/api-server/operations/read-objects.ts';
import { remove } from '#sandbox/api-server/operations/remove.ts';
import { POD_DISRUPTION_BUDGETS } from '#sandbox/api-server/resources/built-in.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { Refusal } from '#sandbox/api-server/status/refusal.ts';
import { badRequest } from '#sandbox/api-server/status/status-refusals.ts';
import { isJson, type Json, memberOf, type StoredObject, without } from '#sandbox/api-server/stored-object.ts';

export const isEviction = ({ resource }: ServedResource, { subresource, name, verb }: ResourceCall): boolean =>
  resource.kind === 'Pod' && subresource === 'eviction' && name !== undefined && verb === 'create';

/**
 * POST of an Eviction: deletes the pod, unless its PodDisruptionBudget refuses (kubernetes/pkg/registry/core/pod/storage/
 * eviction.go). A pod that does not run yet or any more goes whatever the budget says.
 *
 * @throws Refusal 404 without such a pod, 429 where the budget is used up, 500 where there are two budgets
 */
export function evict(api: Api, served: ServedResource, call: ResourceCall, eviction: unknown): Json {
  const { namespace, name = '' } = call;
  const target = { served, namespace, name, subresource: undefined };
  requireEviction(eviction, name);
  const pod = get(api, target);
  const phase = memberOf(pod, 'status', 'phase');
  const options = memberOf(eviction, 'deleteOptions');
  const dryRun = memberOf(options, 'dryRun');
  const isDry = Array.isArray(dryRun) && dryRun.includes('All');
  if (phase === 'Running' || phase === 'Unknown') {
    const budgets = api.store.of(POD_DISRUPTION_BUDGETS).all();
    const guarding = budgets.filter((budget) => guards(budget, pod));
    if (guarding.length > 1) {
      const why = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
      throw new Refusal(500, undefined, why);
    }
    for (const budget of guarding) if (!isLeft(budget, pod)) spend(api, budget, isDry);
  }
  if (!isDry) remove(api, target, options);
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

function requireEviction(eviction: unknown, name: string): void {
  const [version, kind] = [memberOf(eviction, 'apiVersion'), memberOf(eviction, 'kind')];
  if (kind !== 'Eviction' || (version !== 'policy/v1' && version !== 'policy/v1beta1')) {
    throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)}`);
  }
  const said = memberOf(eviction, 'metadata', 'name');
  if (said !== name) throw badRequest('name in URL does not match name in Eviction object');
}

function guards(budget: StoredObject, pod: StoredObject): boolean {
  const selector = (memberOf(budget, 'spec', 'selector') ?? {}) as LabelSelector;
  const labels = pod.metadata.labels ?? {};
  return (
    budget.metadata.namespace === pod.metadata.namespace &&
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every((requirement) => holds(requirement, labels))
  );
}

function holds({ key, operator, values = [] }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

const numberAt = (budget: StoredObject, field: string): number => Number(memberOf(budget, 'status', field) ?? 0);

/** A pod that is not Ready does not count for a budget which has enough without it. */
function isLeft(budget: StoredObject, pod: StoredObject): boolean {
  const conditions = memberOf(pod, 'status', 'conditions');
  const ready =
    Array.isArray(conditions) &&
    conditions.filter(isJson).some(({ type, status }) => type === 'Ready' && status === 'True');
  const desired = numberAt(budget, 'desiredHealthy');
  return !ready && desired > 0 && numberAt(budget, 'currentHealthy') >= desired;
}

/** Takes one of the disruptions that the budget allows, or only looks whether there is one. @throws Refusal 429 */
function spend(api: Api, budget: StoredObject, isDry: boolean): void {
  const { name } = budget.metadata;
  const allowed = numberAt(budget, 'disruptionsAllowed');
  if (allowed <= 0) {
    const [needed, healthy] = [numberAt(budget, 'desiredHealthy'), numberAt(budget, 'currentHealthy')];
    throw new Refusal(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
      causes: [
        {
          reason: 'DisruptionBudget',
          message: `The disruption budget ${name} needs ${needed} healthy pods and has ${healthy} currently`,
        },
      ],
    });
  }
  if (isDry) return;
  const status = { ...(budget['status'] as Json), disruptionsAllowed: allowed - 1 };
  api.store.put(POD_DISRUPTION_BUDGETS, {
    ...budget,
    metadata: without(budget.metadata, 'resourceVersion'),
    status,
  });
}
