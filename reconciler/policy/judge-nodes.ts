import { distinctFindings, type Finding, formatFinding, hasErrors } from '#shared/contract/finding.ts';
import type { JudgePool } from './config-repo/judge-pool.ts';
import type { ValidPool } from './config-repo/loaded-repo.ts';
import type { Fleet, NodeView } from './fleet.ts';
import { kubeletNodeOf } from './kubelet-node-of.ts';

/** What the kubelets of some nodes have against the config that they are to get. */
export interface NodesVerdict {
  /** For its author while the nodes that refuse it hold themselves: warnings alone. */
  readonly findings: readonly Finding[];
  /** For its author where the nodes refuse it together: with the errors of the versions that do. */
  readonly refusal: readonly Finding[];
  /** By node name, why its kubelet would refuse the config, as a clause. Such a node keeps what it has. */
  readonly unfit: ReadonlyMap<string, string>;
  readonly votes: Votes;
}

/** Nodes whose agents report the version of their kubelet. A Node that nobody of ours stands behind has no say in what others get. */
interface Votes {
  readonly counted: number;
  /** How many of them report a version that refuses the config. */
  readonly against: number;
}

/** More than half: otherwise one machine that is old, or lies, would keep a config from all others. */
export const isOutvoted = ({ counted, against }: Votes): boolean => against * 2 > counted;

/** Judges a config by the kubelets that are to run it, each version by itself. */
export function judgeNodes(
  pool: ValidPool,
  nodes: readonly NodeView[],
  fleet: Pick<Fleet, 'kubeletNodes'>,
  judge: JudgePool,
): NodesVerdict {
  const reported = nodes.map((node) => reportedVersion(node, fleet));
  const minors = minorsOf([...nodes.map(({ kubeletVersion }) => kubeletVersion), ...reported]);
  const found = judge(pool, minors);
  if (!hasErrors(found)) return { ...unopposed(nodes, fleet), findings: found, refusal: found };
  const refusing = new Map(
    minors.flatMap((minor) => {
      const first = judge(pool, [minor]).find(({ severity }) => severity === 'error');
      return first === undefined ? [] : [[minor, refusedBy(minor, first)] as const];
    }),
  );
  const unfit = nodes.flatMap(({ name, kubeletVersion }, index) => {
    const because = refusing.get(minorOf(kubeletVersion) ?? minorOf(reported[index]) ?? '');
    return because === undefined ? [] : [[name, because] as const];
  });
  const counted = reported.flatMap((version) => minorOf(version) ?? []);
  const against = counted.filter((minor) => refusing.has(minor)).length;
  const votes = { counted: counted.length, against };
  const refusal = found.map((finding) => named(finding, [...refusing.keys()]));
  return { findings: refusal.map(held), refusal, unfit: new Map(unfit), votes };
}

/** Of nodes whose kubelets have nothing against it. */
export function unopposed(nodes: readonly NodeView[], fleet: Pick<Fleet, 'kubeletNodes'>): NodesVerdict {
  const counted = nodes.filter((node) => minorOf(reportedVersion(node, fleet)) !== undefined).length;
  return { findings: [], refusal: [], unfit: NOBODY, votes: { counted, against: 0 } };
}

/** What several configs, of one pool, are judged to be by the nodes of each: as one verdict. */
export const together = (verdicts: readonly NodesVerdict[]): NodesVerdict => ({
  findings: distinctFindings(verdicts.flatMap(({ findings }) => findings)),
  refusal: distinctFindings(verdicts.flatMap(({ refusal }) => refusal)),
  unfit: new Map(verdicts.flatMap(({ unfit }) => [...unfit])),
  votes: {
    counted: verdicts.reduce((sum, { votes }) => sum + votes.counted, 0),
    against: verdicts.reduce((sum, { votes }) => sum + votes.against, 0),
  },
});

export const NOBODY: NodesVerdict['unfit'] = new Map();

const refusedBy = (minor: string, finding: Finding): string =>
  `kubelet ${minor} would refuse the config: ${formatFinding(finding)}`;

/** What all versions that were asked refuse names none: the cluster's own list was asked before. */
const named = (finding: Finding, refusing: readonly string[]): Finding =>
  finding.severity === 'error' && finding.versions === undefined ? { ...finding, versions: refusing } : finding;

/** What some of the nodes refuse holds them alone. */
const held = (finding: Finding): Finding =>
  finding.severity === 'warning'
    ? finding
    : { ...finding, severity: 'warning', message: `${finding.message}; nodes that refuse it keep what they have` };

/** As the agent of this very Node reports it. One that cannot read it, or is too old to report it, stands for what the Node says. */
function reportedVersion(node: NodeView, fleet: Pick<Fleet, 'kubeletNodes'>): string | undefined {
  const { kubeletVersion, heartbeat } = kubeletNodeOf(node, fleet)?.status ?? {};
  return heartbeat === undefined ? undefined : (kubeletVersion ?? node.kubeletVersion);
}

const minorOf = (version: string | undefined): string | undefined => /^v?(\d+\.\d+)/.exec(version ?? '')?.[1];

/** Distinct `major.minor`, sorted; unreadable versions are left out. */
export const minorsOf = (versions: readonly (string | undefined)[]): readonly string[] =>
  [...new Set([...new Set(versions)].map(minorOf).filter((minor) => minor !== undefined))].sort();
