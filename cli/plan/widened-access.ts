import type { Finding } from '#shared/contract/finding.ts';
import { covers, RESTRICTIVE_VALUES } from '#shared/contract/kubelet-config/field-policy.ts';
import { ownsNode, powerOf } from '#shared/contract/kubelet-config/security/powers.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { isWider, type Limits, limitsOf, loosenedLimits } from '#reconciler/policy/commit-limits.ts';
import type { ClusterConfig, LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { DEFAULT_MAX_CHANGE } from '#reconciler/policy/config-repo/read-cluster.ts';
import type { MovePlan, PoolPlan } from './merge-plan.ts';
import { takenBack } from './taken-back.ts';

/**
 * What a change opens, and to whom: for its reviewer. What it takes away from protections is among the findings of the
 * files themselves (`weakens-security`). Pure.
 *
 * @param file of the cluster
 * @param pools the pools that change
 */
export function widenedAccess(
  base: LoadedRepo,
  head: LoadedRepo,
  file: string,
  pools: readonly PoolPlan[],
  moves: readonly Pick<MovePlan, 'from' | 'to'>[],
): readonly Finding[] {
  const isFirst = base.pools.length === 0;
  return [
    ...allowances(base.cluster, head.cluster, file, takingPools(head)),
    ...(isFirst ? [] : looserLimits(limitsOf(base.cluster), limitsOf(head.cluster), file)),
    ...pools.flatMap((pool) => [...ownedNodes(pool), ...(isFirst ? [] : looserPool(pool.name, base, head))]),
    ...changedHands(pools, moves).flatMap(([from, to]) =>
      takenBack(poolIn(base, from ?? ''), poolIn(head, to ?? ''), `pools/${to ?? from}/pool.yaml`),
    ),
  ];
}

type Handover = readonly [from: string | null, to: string | null];

/** Whose config takes the place of whose, each pair once: in a pool, and for nodes that change theirs. */
function changedHands(
  pools: readonly PoolPlan[],
  moves: readonly Pick<MovePlan, 'from' | 'to'>[],
): readonly Handover[] {
  const inPlace = pools.flatMap(({ name, change, members }): readonly Handover[] => {
    if (change === 'changed') return [[name, name]];
    return change === 'added' && members === 0 ? [[null, name]] : [];
  });
  const moved = moves.map(({ from, to }): Handover => [from, to]);
  return [...new Map([...inPlace, ...moved].map((pair) => [pair.join(' '), pair])).values()];
}

const opened = (message: string, file: string, field: string): Finding => ({
  code: 'opens',
  severity: 'warning',
  kind: 'security',
  message,
  file,
  field,
});

/** Pools whose nodes keep of their own configs only what is denied: an allowance takes it from them. */
const takingPools = ({ pools }: LoadedRepo): readonly string[] =>
  pools.flatMap((pool) => (pool.status === 'valid' && pool.spec.apply === 'replace' ? [pool.name] : []));

function allowances(
  { fields: before }: ClusterConfig,
  { fields: now }: ClusterConfig,
  file: string,
  takers: readonly string[],
): readonly Finding[] {
  const more = now.allow.filter((field) => !covers(before.allow, field));
  const fewer = before.deny.filter((field) => !covers(now.deny, field));
  const whoever = 'from the next commit on, whoever may change a pool may set';
  const andTake =
    takers.length === 0
      ? ''
      : `; nodes of ${firstFew(takers)} (apply: replace) lose their own value of it with the next config`;
  return [
    ...more.map((field) => {
      const gives = powerOf(field)?.gives;
      const who = gives === undefined ? '' : `: whoever chooses its value ${gives}`;
      return opened(`${whoever} ${field}${who}${andTake}`, file, 'spec.fields.allow');
    }),
    ...fewer.map((field) => opened(`${whoever} ${field}, which was denied so far${andTake}`, file, 'spec.fields.deny')),
  ];
}

function looserLimits(before: Limits, now: Limits, file: string): readonly Finding[] {
  const change = isWider(before.maxChange ?? DEFAULT_MAX_CHANGE, now.maxChange ?? DEFAULT_MAX_CHANGE)
    ? [
        opened(
          `from the next commit on, one commit may give ${now.maxChange ?? DEFAULT_MAX_CHANGE} of all nodes another config`,
          file,
          'spec.maxChange',
        ),
      ]
    : [];
  const says: Readonly<Record<ReturnType<typeof loosenedLimits>[number], string>> = {
    maxUnavailable: `${now.maxUnavailable ?? 'any number'} of all nodes may be unavailable at a time, so a bad config reaches more of them before it is stopped`,
    maxUnassign: `one commit, or lost labels, may send ${now.maxUnassign} of the nodes back to their local config`,
    windows: 'changes may begin at times when they could not before',
  };
  return [
    ...change,
    ...looserTrials(before, now, file),
    ...loosenedLimits(before, now).map((limit) => opened(says[limit], file, `spec.${limit}`)),
  ];
}

function looserTrials({ trial: before }: Limits, { trial: now }: Limits, file: string): readonly Finding[] {
  if (before === undefined || now === undefined) return [];
  const ms = (duration: string): number => parseDuration(duration) ?? 0;
  const next = 'from the next commit on, a pool may ask for';
  return [
    ...(ms(now.minDuration) < ms(before.minDuration)
      ? [opened(`${next} trials of ${now.minDuration}`, file, 'spec.trial.minDuration')]
      : []),
    ...(ms(now.maxStartTimeout) > ms(before.maxStartTimeout)
      ? [opened(`${next} a startTimeout of ${now.maxStartTimeout}`, file, 'spec.trial.maxStartTimeout')]
      : []),
  ];
}

/** Values of fields that own a node, which a person allowed: nothing else would say that they changed hands. */
function ownedNodes({ name, change, fields }: PoolPlan): readonly Finding[] {
  if (change === 'invalid' || change === 'removed') return [];
  return fields.flatMap(({ path, after }) => {
    const row = powerOf(path);
    const shuts = Object.hasOwn(RESTRICTIVE_VALUES, path) && JSON.stringify(RESTRICTIVE_VALUES[path]) === after;
    if (row === undefined || !ownsNode(row) || after === undefined || shuts) return [];
    return [opened(`${path} becomes ${after}: whoever chose it ${row.gives}`, `pools/${name}/pool.yaml`, path)];
  });
}

function looserPool(name: string, base: LoadedRepo, head: LoadedRepo): readonly Finding[] {
  const [before, now] = [poolIn(base, name)?.spec, poolIn(head, name)?.spec];
  if (before === undefined || now === undefined) return [];
  const file = `pools/${name}/pool.yaml`;
  const more = (now.disruption?.allow ?? []).filter(
    (each) => each !== 'restart' && !before.disruption?.allow.includes(each),
  );
  return [
    ...(isWider(before.rollout.maxUnavailable, now.rollout.maxUnavailable)
      ? [
          opened(
            `${now.rollout.maxUnavailable} of its nodes may be changed at a time, so a bad config reaches more of them before it is stopped`,
            file,
            'spec.rollout.maxUnavailable',
          ),
        ]
      : []),
    ...(before.rollout.windows !== undefined && now.rollout.windows === undefined
      ? [opened('its nodes may be changed at any time', file, 'spec.rollout.windows')]
      : []),
    ...more.map((each) =>
      opened(`a config that needs a ${each} of its nodes gets it without asking`, file, 'spec.disruption.allow'),
    ),
  ];
}

const poolIn = ({ pools }: LoadedRepo, name: string): ValidPool | undefined =>
  pools.find((pool): pool is ValidPool => pool.name === name && pool.status === 'valid');
