import { type ConfigIdentity, writtenKeep } from '#shared/contract/api/config-identity.ts';
import type { KubeletPoolSpec, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import { desiredConfigOf, type DesiredConfig } from './config-map-name.ts';
import type { Fleet, NodeView } from './fleet.ts';
import { judgeNodes, NOBODY, type NodesVerdict, together, unopposed } from './judge-nodes.ts';
import type { JudgePool } from './config-repo/judge-pool.ts';
import { type ClassPool, createClassifier, unrendered } from './config-repo/pool-of-class.ts';
import type { ValidPool } from './config-repo/loaded-repo.ts';
import { readProof } from './proof/record.ts';

/** No config has this hash: what nothing was made for is not to be taken for anything. */
export const NO_CONFIG = '';

/** How a pool applies its payloads. */
type AppliedAs = Pick<KubeletPoolSpec, 'apply' | 'keepFields'>;

/** What a payload is as a pool applies it. */
export const targetWith = (sha256: string, { apply, keepFields }: AppliedAs): ConfigIdentity => ({
  sha256,
  apply,
  ...writtenKeep({ keepFields }),
});

/** What a pool with computed values gives the machines of one class. */
export interface PayloadClass {
  readonly name: string;
  /** null where there is none: its nodes keep what they have. */
  readonly config: DesiredConfig | null;
  /** The target of its nodes: the same value for all of them. */
  readonly target: ConfigIdentity;
  /** Why there is none, as a clause; empty where there is one. */
  readonly because: string;
  /** What the config says, for a rendered one. */
  readonly value?: ValidPool['value'];
}

/** What a pool with computed values gives each of its nodes. */
export interface PoolClasses {
  readonly byNode: ReadonlyMap<string, PayloadClass>;
  /** How many nodes each class has. */
  readonly nodes: ReadonlyMap<PayloadClass, number>;
  /** Every config of them once, by its SHA-256. */
  readonly configs: ReadonlyMap<string, DesiredConfig>;
  /** What they say, by SHA-256, so that the payload need not be read again. */
  readonly values: ReadonlyMap<string, ValidPool['value']>;
  /** The sizes that a node was sorted by, where those are not kept yet: with them it stays in its class. */
  readonly sizes: ReadonlyMap<string, string>;
}

/** The findings are also about classes that have no config; a class that all of its nodes refuse has none. */
interface ClassifiedPool extends NodesVerdict {
  readonly classes: PoolClasses;
}

/** Sorts the nodes of a pool with computed values, and judges what each class gets by the kubelets that are to run it. */
export function classifyNodes(
  pool: ValidPool,
  members: readonly NodeView[],
  fleet: Fleet,
  judge: JudgePool,
): ClassifiedPool {
  const sizes = new Map<string, string>();
  const byClass = new Map<ClassPool, NodeView[]>();
  const sort = createClassifier(pool);
  const asksNuma = pool.template?.inputs.variables.has('numaNodes') === true;
  for (const node of members) {
    const { metadata, status } = fleet.kubeletNodes.get(node.name) ?? {};
    const had = metadata?.annotations?.[MACHINE_ANNOTATION];
    const { numaNodes } = status ?? {};
    const sorted = sort(asksNuma ? { ...node, numaNodes } : node, had);
    if (sorted.sizes !== '' && sorted.sizes !== had) sizes.set(node.name, sorted.sizes);
    const nodes = byClass.get(sorted.class);
    if (nodes === undefined) byClass.set(sorted.class, [node]);
    else nodes.push(node);
  }
  const byNode = new Map<string, PayloadClass>();
  const counted = new Map<PayloadClass, number>();
  const verdicts = [...byClass].map(([rendered, nodes]) => {
    const { judged, ...verdict } = judgeClass(rendered, nodes, fleet, judge);
    const payloadClass = payloadClassOf(judged, pool.spec, fleet);
    counted.set(payloadClass, nodes.length);
    for (const { name } of nodes) byNode.set(name, payloadClass);
    return { ...verdict, findings: [...unrendered(pool, judged), ...verdict.findings] };
  });
  return { classes: { byNode, nodes: counted, ...configsIn(counted), sizes }, ...together(verdicts) };
}

/** A class whose config all of its nodes refuse has none. */
function judgeClass(
  rendered: ClassPool,
  nodes: readonly NodeView[],
  fleet: Fleet,
  judge: JudgePool,
): NodesVerdict & { readonly judged: ClassPool } {
  if (rendered.pool === undefined) return { judged: rendered, ...unopposed(nodes, fleet) };
  const verdict = judgeNodes(rendered.pool, nodes, fleet, judge);
  const { unfit, refusal, findings } = verdict;
  // What no kubelet of them refuses, the machines that pools are tried on when they are read said already.
  if (unfit.size < nodes.length) return { judged: rendered, ...verdict, findings: unfit.size === 0 ? [] : findings };
  const first = refusal.filter(({ severity }) => severity === 'error').map(formatFinding)[0] ?? '';
  const judged = { class: rendered.class, because: `the config is not valid: ${first}` };
  return { judged, ...verdict, findings: [], unfit: NOBODY };
}

function payloadClassOf(
  { class: { name }, pool, because = '' }: ClassPool,
  spec: AppliedAs,
  fleet: Fleet,
): PayloadClass {
  if (pool === undefined) return { name, config: null, target: targetWith(NO_CONFIG, spec), because };
  const config = desiredConfigOf(pool, fleet.configSources);
  const target = targetWith(config.sha256, spec);
  return { name, config, target, because, ...(config.payload === pool.payload ? { value: pool.value } : {}) };
}

/**
 * The classes of a pool as its status has them, before any commit was read: a node with the config of a class assigned is in it. They
 * assign nothing.
 */
export function recordedClasses(
  status: KubeletPoolStatus,
  spec: AppliedAs,
  members: readonly NodeView[],
  fleet: Fleet,
): PoolClasses | undefined {
  if (status.classes === undefined) return undefined;
  const names = new Map([...fleet.configSources.values()].map(({ sha256, name }) => [sha256, name]));
  const byConfig = new Map<string, PayloadClass>();
  for (const { name, current } of readProof(status).values()) {
    const config = current && { name: names.get(current.sha256) ?? '', sha256: current.sha256 };
    if (config !== null)
      byConfig.set(config.sha256, { name, config, target: targetWith(config.sha256, spec), because: '' });
  }
  const byNode = new Map<string, PayloadClass>();
  const counted = new Map<PayloadClass, number>();
  for (const { name } of members) {
    const assignedSha256 = fleet.kubeletNodes.get(name)?.spec?.configSource?.sha256;
    const each = byConfig.get(assignedSha256 ?? NO_CONFIG) ?? UNKNOWN_CLASS;
    byNode.set(name, each);
    counted.set(each, (counted.get(each) ?? 0) + 1);
  }
  return { byNode, nodes: counted, ...configsIn(counted), sizes: new Map() };
}

/** Of a node without a class. */
export const UNKNOWN_CLASS: PayloadClass = {
  name: '',
  config: null,
  target: { sha256: NO_CONFIG, apply: 'overlay' },
  because: 'only a commit says what a machine like it gets, and no node like it has that yet',
};

function configsIn(classes: PoolClasses['nodes']): Pick<PoolClasses, 'configs' | 'values'> {
  const configs = new Map<string, DesiredConfig>();
  const values = new Map<string, ValidPool['value']>();
  for (const { config, value } of classes.keys()) {
    if (config === null) continue;
    configs.set(config.sha256, config);
    if (value !== undefined) values.set(config.sha256, value);
  }
  return { configs, values };
}
