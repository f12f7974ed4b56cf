import { choosePool } from '#reconciler/policy/pool-selection/choose-pool.ts';
import { neverReason } from '#reconciler/policy/participation.ts';
import { assignmentOf, failedAt } from '#reconciler/policy/rollout/node-progress.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { nodeTrouble, type TroubleKind } from '#reconciler/policy/pool-status/node-trouble.ts';
import { unseenIn } from '#shared/contract/api/running-config-seen.ts';
import { minorName, minorNumber, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { aboutAll, count, type Diagnosis, diagnosis } from '../diagnosis.ts';
import type { Code } from '../diagnosis-codes.ts';
import { silentAgents } from './silent-agents.ts';
import { removedFlagsOf } from '../../inventory/nodes-with-removed-flags.ts';
import { type Facts, valueOr } from '../facts.ts';

const MOST_SKEW_MS: Millis = 60_000;

/** What is wrong with nodes and their agents; nodes with the same trouble are one diagnosis. */
export function diagnoseNodes(facts: Facts): readonly Diagnosis[] {
  const kubeletNodes = valueOr(facts.kubeletNodes, []);
  return [
    ...choices(facts),
    ...silentAgents(facts),
    ...versions(facts),
    ...removedFlagsOf(kubeletNodes).flags.flatMap(({ flag, to, nodes }) =>
      aboutAll('flags-removed', 'node', nodes, `kubelet ${to} does not start with --${flag}`),
    ),
    ...rejected(kubeletNodes),
    ...troubled(kubeletNodes),
    ...inError(kubeletNodes),
    ...unseen(kubeletNodes),
    ...failing('checkpoints-damaged', 'CheckpointsIntact', kubeletNodes),
    ...failing('nodes-unguarded', 'Guarded', kubeletNodes),
    ...aboutAll(
      'command-line-unseen',
      'node',
      kubeletNodes.flatMap(({ metadata: { name }, status }) => (status?.commandLine === 'unseen' ? [name] : [])),
      "the agent cannot see the kubelet's command line",
    ),
    ...skewed(facts),
  ];
}

/** Which nodes no pool configures, and why. */
function choices({ nodes, pools, kubeletNodes }: Facts): readonly Diagnosis[] {
  if (!nodes.read || !pools.read) return [];
  const candidates = pools.value.flatMap(({ metadata: { name }, spec }) =>
    spec === undefined ? [] : [{ name, priority: spec.priority, nodeSelector: spec.nodeSelector }],
  );
  const chosen = nodes.value.map((node) => ({ name: node.name, choice: choosePool(node, candidates) }));
  const conflicts = Map.groupBy(chosen, ({ choice }) =>
    choice.choice === 'conflict' ? choice.pools.join(' and ') : '',
  );
  const never = Map.groupBy(
    nodes.value.flatMap((node) => {
      const reason = neverReason(node);
      return reason === null ? [] : [{ name: node.name, ...reason }];
    }),
    ({ because }) => because,
  );
  const names = (is: string): readonly string[] =>
    chosen.filter(({ choice }) => choice.choice === is).map(({ name }) => name);
  const known = new Set(nodes.value.map(({ name }) => name));
  const orphans = valueOr(kubeletNodes, []).map(({ metadata }) => metadata.name);
  return [
    ...[...conflicts].flatMap(([both, each]) =>
      both === ''
        ? []
        : aboutAll(
            'nodes-in-conflict',
            'node',
            each.map(({ name }) => name),
            `selected by ${both} with the same priority`,
          ),
    ),
    ...aboutAll('nodes-unmanaged', 'node', names('none'), 'selected by no pool'),
    ...[...never].flatMap(([because, each]) =>
      aboutAll(
        each[0]?.choice === 'opted-out' ? 'nodes-opted-out' : 'nodes-unsupported',
        'node',
        each.map(({ name }) => name),
        because,
      ),
    ),
    ...aboutAll(
      'records-without-node',
      'KubeletNode',
      orphans.filter((name) => !known.has(name)),
      'there is no such Node',
    ),
  ];
}

function versions({ nodes, kubeletNodes, agents }: Facts): readonly Diagnosis[] {
  const kubelets = (is: (minor: number) => boolean): readonly string[] =>
    valueOr(nodes, [])
      .filter(({ kubeletVersion }) => is(minorNumber(kubeletVersion) ?? OLDEST_MINOR))
      .map(({ name }) => name);
  const byVersion = Map.groupBy(
    valueOr(kubeletNodes, []).filter(({ status }) => status?.agentVersion !== undefined),
    ({ status }) => status?.agentVersion ?? '',
  );
  const groups = [...byVersion].map(([version, each]) => ({
    version,
    names: each.map(({ metadata }) => metadata.name),
  }));
  groups.sort((a, b) => b.names.length - a.names.length);
  const [most, ...fewer] = groups;
  const updating = valueOr(agents, null);
  const isUpgrade = updating !== null && updating.updated < updating.wanted;
  return [
    ...aboutAll(
      'kubelet-too-new',
      'node',
      kubelets((minor) => minor > NEWEST_MINOR),
      `newer than ${minorName(NEWEST_MINOR)}`,
    ),
    ...aboutAll(
      'kubelet-too-old',
      'node',
      kubelets((minor) => minor < OLDEST_MINOR),
      `older than ${minorName(OLDEST_MINOR)}`,
    ),
    ...(isUpgrade
      ? []
      : fewer.flatMap(({ version, names }) =>
          aboutAll('agent-versions-differ', 'node', names, `agent ${version}; most run ${most?.version}`),
        )),
  ];
}

/** Nodes that gave up what they are assigned now, by config and reason. */
function rejected(kubeletNodes: readonly KubeletNode[]): readonly Diagnosis[] {
  const entries = kubeletNodes.flatMap((node) => {
    const assigned = assignmentOf(node);
    if (assigned === null) return [];
    const at = failedAt(node, assigned);
    const entry = node.status?.rejected?.find((each) => each.at === at && each.sha256 === assigned.sha256);
    return entry === undefined ? [] : [{ name: node.metadata.name, entry }];
  });
  const alike = Map.groupBy(entries, ({ entry }) => `${entry.name} ${entry.reason}`);
  return [...alike.values()].map((each) => {
    const names = each.map(({ name }) => name);
    const entry = each[0]?.entry;
    return diagnosis(
      'config-rejected',
      `${entry?.name} on ${count('node', names)}: ${entry?.reason}: ${entry?.message}`,
      names,
    );
  });
}

/** What a person has to look at, in the words of every other screen; nodes with the same trouble are one diagnosis. */
function troubled(kubeletNodes: readonly KubeletNode[]): readonly Diagnosis[] {
  const found = kubeletNodes.flatMap((node) => {
    const trouble = nodeTrouble(node);
    return trouble === null ? [] : [{ name: node.metadata.name, ...trouble }];
  });
  // Nodes of another distribution have another unit to look at.
  const alike = Map.groupBy(found, ({ kind, look }) => `${kind} ${look}`);
  return [...alike.values()].flatMap((each) => {
    const [first] = each;
    if (first === undefined) return [];
    const { kind, message, look } = first;
    const names = each.map(({ name }) => name);
    const found = aboutAll(CODES_OF[kind], 'node', names, message);
    return look === undefined ? found : found.map((one) => ({ ...one, remedy: `${one.remedy} On the node: ${look}` }));
  });
}

const CODES_OF: Readonly<Record<TroubleKind, Code>> = {
  broken: 'nodes-broken',
  failing: 'nodes-failing',
  drifted: 'nodes-drifted',
  unhealthy: 'nodes-unhealthy',
};

/** What the agent says that is neither a rejection nor a phase of its own. */
function inError(kubeletNodes: readonly KubeletNode[]): readonly Diagnosis[] {
  const those = kubeletNodes.filter(({ metadata, status = {} }) => {
    const error = status.error ?? undefined;
    const isListed = status.rejected?.some(({ reason, at }) => reason === error?.reason && at === error.at) === true;
    return error !== undefined && !isListed && nodeTrouble({ metadata, status }) === null;
  });
  const alike = Map.groupBy(those, ({ status }) => status?.error?.reason ?? '');
  return [...alike].flatMap(([reason, each]) =>
    aboutAll(
      'nodes-in-error',
      'node',
      each.map(({ metadata }) => metadata.name),
      `${reason}: ${each[0]?.status?.error?.message ?? ''}`,
    ),
  );
}

/** Nodes whose agents cannot see what the kubelet runs, by reason: one that is not there for a moment is none of them. */
function unseen(kubeletNodes: readonly KubeletNode[]): readonly Diagnosis[] {
  const those = kubeletNodes.flatMap(({ metadata: { name }, status = {} }) => {
    const condition = unseenIn(status);
    return condition?.status === 'False' ? [{ name, condition }] : [];
  });
  const alike = Map.groupBy(those, ({ condition }) => condition.reason);
  return [...alike].flatMap(([reason, each]) =>
    aboutAll(
      'running-config-unseen',
      'node',
      each.map(({ name }) => name),
      `${reason}: ${each[0]?.condition.message ?? ''}`,
    ),
  );
}

/** Nodes of which the agent says that this condition is False, by what it says of it. */
function failing(code: Code, type: string, kubeletNodes: readonly KubeletNode[]): readonly Diagnosis[] {
  const those = kubeletNodes.flatMap(({ metadata: { name }, status }) => {
    const condition = status?.conditions?.find((each) => each.type === type && each.status === 'False');
    return condition === undefined ? [] : [{ name, message: condition.message }];
  });
  return [...Map.groupBy(those, ({ message }) => message)].flatMap(([message, each]) =>
    aboutAll(
      code,
      'node',
      each.map(({ name }) => name),
      message,
    ),
  );
}

/** By the stamp of the API server where there is one, and otherwise by what cannot be: times that have not come yet. */
function skewed({ stamps, now }: Facts): readonly Diagnosis[] {
  return stamps.flatMap(({ of, said, stamped }) => {
    const skew = stamped === undefined ? Math.max(0, said - now) : said - stamped;
    if (Math.abs(skew) <= MOST_SKEW_MS) return [];
    const seconds = Math.round(Math.abs(skew) / 1000);
    return [diagnosis('clock-skew', `the clock of ${of} is ${seconds} s ${skew > 0 ? 'ahead' : 'behind'}`, [of])];
  });
}
