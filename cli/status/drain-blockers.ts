import { type Kube, namespaced, PODS, type Resource } from '#shared/kube/kube.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { selectorMatches } from '#reconciler/policy/pool-selection/selector.ts';
import { mustBeEvicted, isTerminating, type Pod } from '#reconciler/policy/disruption/evictable.ts';
import type { NodeReason } from '#reconciler/policy/pool-status/explain-nodes.ts';
import type { LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';

const MOST_PODS = 3;

/** `policy/v1` came with 1.21, `v1beta1` went with 1.25. */
const budgetsOf = (version: string): Resource => namespaced(`policy/${version}`, 'PodDisruptionBudget');

interface Budget extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector | null };
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
  };
}

interface RunningPod extends Pod {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/**
 * The reasons, with the pods that hold a drain up now and the budgets that keep them: what the reconciler hears from the API server, read
 * with the user's own rights. Without the right to list pods or budgets, the reasons stay as they are.
 *
 * @throws KubeError if the API server does not answer
 */
export async function withDrainBlockers(
  kube: Kube,
  reasons: readonly NodeReason[],
  { nodes }: Pick<Fleet, 'nodes'>,
): Promise<readonly NodeReason[]> {
  const draining = reasons.filter(({ node }) => nodes.get(node)?.drain !== undefined);
  if (draining.length === 0) return reasons;
  try {
    const budgets = await listBudgets(kube);
    const causes = new Map<string, string>();
    for (const { node } of draining) causes.set(node, sayHoldUps(await podsOn(kube, node), budgets));
    return reasons.map((reason) => {
      const said = causes.get(reason.node) ?? '';
      return said === '' ? reason : { ...reason, because: `${reason.because}; ${said}` };
    });
  } catch (error) {
    if (isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_NOT_FOUND')) return reasons;
    throw error;
  }
}

async function podsOn(kube: Kube, node: string): Promise<readonly RunningPod[]> {
  const { items } = await kube.list<RunningPod>({ resource: PODS, fieldSelector: `spec.nodeName=${node}` });
  return items.filter((pod) => mustBeEvicted(pod));
}

async function listBudgets(kube: Kube): Promise<readonly Budget[]> {
  try {
    return (await kube.list<Budget>({ resource: budgetsOf('v1') })).items;
  } catch (error) {
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    const { items } = await kube.list<Budget>({ resource: budgetsOf('v1beta1') });
    // An empty selector chose nothing in that version.
    return items.filter(({ spec }) => Object.keys(spec?.selector ?? {}).length > 0);
  }
}

/** '' where no budget keeps a pod that has to leave. Pure. */
function sayHoldUps(pods: readonly RunningPod[], budgets: readonly Budget[]): string {
  const kept = pods.flatMap((pod) => {
    const why = isTerminating(pod) ? undefined : keptBy(pod, budgets);
    return why === undefined ? [] : [`${nameOf(pod)} is kept by ${why}`];
  });
  const more = kept.length > MOST_PODS ? [`and ${kept.length - MOST_PODS} more pods are kept`] : [];
  return [...kept.slice(0, MOST_PODS), ...more].join('; ');
}

function keptBy(pod: RunningPod, budgets: readonly Budget[]): string | undefined {
  const { namespace, labels = {} } = pod.metadata;
  const own = budgets.filter(
    ({ metadata, spec }) => metadata.namespace === namespace && selects(spec?.selector, labels),
  );
  const [budget] = own;
  if (own.length > 1) {
    const names = own.map(({ metadata }) => metadata.name).join(' and ');
    return `the PodDisruptionBudgets ${names}: no pod that two of them select is ever evicted`;
  }
  if (budget === undefined) return undefined;
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  // A pod that is not Ready goes where the budget has enough without it.
  const isSpare = !isReady(pod) && desiredHealthy > 0 && currentHealthy >= desiredHealthy;
  if (disruptionsAllowed > 0 || isSpare) return undefined;
  return `the PodDisruptionBudget ${budget.metadata.name}, which needs ${desiredHealthy} healthy pods and has ${currentHealthy}`;
}

/** No selector selects nothing; an empty one, every pod of the namespace. */
const selects = (selector: LabelSelector | null | undefined, labels: Readonly<Record<string, string>>): boolean =>
  selector !== undefined && selector !== null && selectorMatches(selector, labels);

const isReady = ({ status }: RunningPod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name}`;
