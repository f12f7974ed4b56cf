import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import type { MergePlan, PoolPlan } from '../merge-plan.ts';
import { upgradeLines } from '../../foresight/foresee-upgrades.ts';
import { MANY_POOLS } from './group-pools.ts';

const opens = ({ code }: Finding): boolean => code === 'opens';

/** The findings that `loosenedLines` does not say. */
export const otherFindings = ({ findings }: MergePlan): readonly Finding[] => findings.filter((each) => !opens(each));

/** All that a change loosens: limits of pools, with the nodes that a bad config reaches before and after, and what opens to somebody. */
export function loosenedLines({ pools, findings }: MergePlan): readonly string[] {
  const isSaid = ({ file, field }: Finding): boolean =>
    pools.some(
      ({ name, loosened = [] }) =>
        file?.endsWith(`pools/${name}/pool.yaml`) === true && loosened.some(({ limit }) => field === `spec.${limit}`),
    );
  return [
    ...pools.flatMap(loosenedLimits),
    ...pools.flatMap(({ name, weakened = [] }) => weakened.map((clause) => `${name}: ${clause}`)),
    ...findings.filter((finding) => opens(finding) && !isSaid(finding)).map(formatFinding),
  ];
}

/** Each limit alone, and all together. */
function loosenedLimits({ name, loosened = [], members, nodes }: PoolPlan): readonly string[] {
  const all = loosened.at(-1);
  if (all === undefined) return [];
  const reached = (limit: string, { before, after }: typeof all): string =>
    members === 0 ? limit : `${limit} ${before} → ${after}`;
  const each = loosened.slice(0, -1).map((one) => reached(one.limit, one));
  const together = each.length > 1 && members > 0 ? [reached('together', all)] : [];
  const how = members === 0 ? '' : `, in nodes of ${members} that a bad config reaches`;
  const when =
    nodes.length === 0 ? '' : '; until these nodes have proven their config, or the next commit, the former hold';
  return [`${name}: looser limits${how}: ${[...each, ...together].join(', ')}${when}`];
}

/** How far a config with each planted fault would get before the bounds stop it; nothing to say of a single node. */
export function reachLines({ pools }: MergePlan): readonly string[] {
  const said = pools.flatMap(({ name, rollout, waits, nodes }) => {
    if (rollout === undefined || rollout.worth.length === 0 || nodes.length < 2 || waits !== undefined) return [];
    const reaches = rollout.worth.map(
      ({ fault, byChance, seen, isStopped }) =>
        `${isStopped ? `at most ${seen}${byChance === true ? ' in 19 of 20 cases' : ''}` : 'all'} if it ${fault}`,
    );
    return [`of ${nodes.length} nodes of ${name} a bad config reaches ${reaches.join(', ')}`];
  });
  const more = said.length - MANY_POOLS;
  return more > 0 ? [...said.slice(0, MANY_POOLS), `and ${more} more pools`] : said;
}

/** What newer kubelets bring that the cluster's file lists now. */
export const comingLines = ({ comingVersions = [] }: MergePlan): readonly string[] =>
  comingVersions.flatMap((step) =>
    upgradeLines(step).map((line) => `kubelet ${step.from} → ${step.to}: ${line} (${step.pools.join(', ')})`),
  );

/** What the words of a table mean. */
export function legendLines({ pools, moves }: MergePlan): readonly string[] {
  const isOwn = [...pools, ...moves].some(({ fields, unset }) =>
    fields.some(
      ({ before, after }) =>
        (before === undefined && unset.before === 'local') || (after === undefined && unset.after === 'local'),
    ),
  );
  return isOwn ? ["local config: no layer sets the field, so the node's own config counts, or else the default"] : [];
}
