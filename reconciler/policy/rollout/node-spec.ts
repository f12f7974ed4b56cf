import { identityText, saysWhatStays } from '#shared/contract/api/config-identity.ts';
import { PAYLOAD_KEY } from '#shared/contract/api/group.ts';
import {
  DEFAULT_DRIFT,
  DEFAULT_TRIAL,
  type KubeletNodeSpec,
  type TrialSpec,
} from '#shared/contract/api/kubelet-node.ts';
import type { DesiredPool } from '../desired.ts';
import type { ConfigSourceView, Fleet } from '../fleet.ts';
import type { Targeted } from './targets.ts';
import { type PoolTrials, trialTermsOf } from './trial-terms.ts';
import { targetOf } from './membership.ts';
import type { NodeTarget } from './node-progress.ts';

/** What a node is told so that it runs this config source of its pool, applied as its pool says unless told otherwise; undefined where the cluster does not have it. */
export type NodeSpecs = (configName: string, target?: NodeTarget) => KubeletNodeSpec | undefined;

/**
 * The assignments that a pool has to give: its payload, what its classes have proven, and what its nodes ran before. Thousands of nodes are told the same, so
 * that each is made once.
 *
 * @param namespace of the config sources
 * @param aims      what the nodes of the pool are to run
 */
export function nodeSpecsOf(
  pool: DesiredPool | null,
  fleet: Fleet,
  namespace: string,
  aims: readonly Pick<Targeted, 'member' | 'configName'>[] = [],
): NodeSpecs {
  if (pool === null) return () => undefined;
  const usual = targetOf(pool);
  const own = usual === null || pool.config === null ? [] : [{ name: pool.config.name, target: usual }];
  const specs = new Map<string, KubeletNodeSpec>();
  for (const { name, target } of [...own, ...targetsIn(aims)]) {
    const source = fleet.configSources.get(name);
    const key = keyOf(name, target);
    // It has to carry what was decided on: names are short enough to be forged.
    if (source === undefined || source.sha256 !== target.sha256 || specs.has(key)) continue;
    specs.set(key, assignmentOfSource(pool, source, target, namespace));
  }
  return (configName, target = usual) => (target === null ? undefined : specs.get(keyOf(configName, target)));
}

/** What the nodes are to run: thousands share one target, and few targets have a second name. */
function targetsIn(aims: readonly Pick<Targeted, 'member' | 'configName'>[]): readonly Wanted[] {
  const known = new Map<NodeTarget, string>();
  const wanted: Wanted[] = [];
  for (const { member, configName } of aims) {
    const { target } = member;
    if (target === null || configName === null || known.get(target) === configName) continue;
    known.set(target, configName);
    wanted.push({ target, name: configName });
  }
  return wanted;
}

interface Wanted {
  readonly name: string;
  readonly target: NonNullable<NodeTarget>;
}

const keyOf = (name: string, target: NonNullable<NodeTarget>): string => identityText({ ...target, sha256: name });

function assignmentOfSource(
  pool: DesiredPool,
  source: ConfigSourceView,
  { apply, keepFields }: NonNullable<NodeTarget>,
  namespace: string,
): KubeletNodeSpec {
  const { name, uid, resourceVersion, sha256 } = source;
  const { drift, allowFields = [], tolerate = [] } = pool.spec;
  return {
    pool: pool.name,
    ...(pool.commit === null ? {} : { commit: pool.commit }),
    configSource: { namespace, name, uid, resourceVersion, key: PAYLOAD_KEY, sha256 },
    apply,
    trial: trialTermsOf(pool.spec).full,
    ...(drift === DEFAULT_DRIFT ? {} : { drift }),
    ...(allowFields.length === 0 ? {} : { allowFields }),
    ...(apply === 'replace' ? { keepFields: keepFields ?? [] } : {}),
    ...(tolerate.length === 0 ? {} : { tolerate }),
  };
}

/**
 * Whether two assignments differ in nothing that a node should hear of. The commit is not compared: a commit that leaves
 * the payload as it was must not write to every node. Nor is the resourceVersion: a label on the ConfigMap changes it.
 */
export function isSameSpec(present: KubeletNodeSpec, wanted: KubeletNodeSpec): boolean {
  const [is, be] = [present.configSource, wanted.configSource];
  return (
    is?.name === be?.name &&
    is?.uid === be?.uid &&
    is?.sha256 === be?.sha256 &&
    present.pool === wanted.pool &&
    (present.apply ?? 'overlay') === (wanted.apply ?? 'overlay') &&
    (present.drift ?? DEFAULT_DRIFT) === (wanted.drift ?? DEFAULT_DRIFT) &&
    sameTrial(present.trial, wanted.trial) &&
    sameWords(present.allowFields, wanted.allowFields) &&
    sameWords(present.keepFields, wanted.keepFields) &&
    saysWhatStays(present) === saysWhatStays(wanted) &&
    sameWords(present.tolerate, wanted.tolerate)
  );
}

/** The terms that a node was told, where the pool still has them: whoever began as a canary ends as one. */
export const keptTrial = (
  told: Partial<TrialSpec> | undefined,
  { full, afterCanary }: PoolTrials,
): TrialSpec | undefined => [full, afterCanary].find((terms) => sameTrial(told, terms));

/** What another release left out has its default. */
const sameTrial = (a: Partial<TrialSpec> = {}, b: Partial<TrialSpec> = {}): boolean =>
  a === b || (sameField(a, b, 'duration') && sameField(a, b, 'startTimeout') && sameField(a, b, 'maxRestarts'));

const sameField = (a: Partial<TrialSpec>, b: Partial<TrialSpec>, field: keyof TrialSpec): boolean =>
  (a[field] ?? DEFAULT_TRIAL[field]) === (b[field] ?? DEFAULT_TRIAL[field]);

const sameWords = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((word, index) => word === b[index]);
