import type { NotUsed } from '../inventory/config-file-arguments.ts';
import type { WrittenFiles } from './files/write-repository.ts';
import type { FleetMember } from './nodes/importable-nodes.ts';
import type { Grouped, NodeGroup } from './pools/group-nodes.ts';
import type { FoundFormula } from './formulas.ts';
import { HOSTNAME } from './pools/known-labels.ts';
import { counted, firstNames } from './format-lists.ts';

/** What an import did, for people. */
export interface Outcome {
  readonly grouped: Grouped;
  readonly members: readonly FleetMember[];
  /** Formulas that give nodes of several sizes what they run. */
  readonly formulas: readonly FoundFormula[];
  readonly leftOut: readonly NotUsed[];
  readonly written: WrittenFiles;
  /** What `validate` finds in the pools that were made, one each. */
  readonly findings: readonly string[];
  readonly into: string;
  /** Where that is in the git repository that it is in; empty for its root, and in none. */
  readonly folder: string;
  readonly cluster: string;
  /** Options by which `plan` compares with what was imported. */
  readonly compare: string;
  /** Whether labels of nodes were known at all. */
  readonly hasLabels: boolean;
  /** What is said of kubelets that serve anybody. */
  readonly open: readonly string[];
  /** Lines that say how to install for these nodes. */
  readonly distributions: readonly string[];
}

/** Lines for standard error. Pure. */
export function importSummary(outcome: Outcome): readonly string[] {
  const { grouped, leftOut, written, findings, hasLabels } = outcome;
  const byName = grouped.groups.filter(({ isByName }) => isByName);
  return [
    ...grouped.groups.map(poolLine),
    ...(byName.length > 0 && !hasLabels
      ? ['without --inventory no label is known: pools list their nodes by name']
      : []),
    ...outcome.formulas.map(
      ({ profile, nodes }) =>
        `profile ${profile} gives ${counted(nodes.length, 'node')} what they reserve: ${firstNames(nodes)}`,
    ),
    ...hostLines(outcome.members),
    ...grouped.scattered.map(
      ({ field, values, nodes }) =>
        `left to the nodes: ${field}, which has ${values} values that no label explains (${firstNames(nodes, 3)})`,
    ),
    ...written.kept.map((path) => `kept as it was: ${path}`),
    ...written.otherPools.map(
      (name) => `pools/${name} is not from this import: delete it if it is from an earlier one`,
    ),
    ...leftOut.map(leftOutLine),
    ...findings,
    ...outcome.distributions,
    ...outcome.open,
    ...nextSteps(outcome),
  ];
}

export const leftOutLine = ({ what, why }: NotUsed): string => `left out: ${what}: ${why}`;

/** Nodes that could be read, and that no pool can have. */
export const lostNodes = (names: readonly string[]): readonly NotUsed[] =>
  names.length === 0
    ? []
    : [
        {
          what: firstNames(names),
          why: `has no ${HOSTNAME} of its own to select it by, and no other label tells it apart`,
        },
      ];

/** Whether something that could have been imported is not, or needs a person. */
export const isPartial = ({ grouped, members, leftOut, written, findings, open }: Outcome): boolean =>
  open.length + leftOut.length + grouped.scattered.length + written.otherPools.length + findings.length > 0 ||
  members.some(({ unknown = [] }) => unknown.length > 0);

function poolLine({ name, nodes, priority, isByName }: NodeGroup): string {
  const how = [...(priority === 0 ? [] : [`priority ${priority}`]), ...(isByName ? ['listed by name'] : [])];
  return `pool ${name}: ${counted(nodes.length, 'node')}${how.length === 0 ? '' : ` (${how.join(', ')})`}`;
}

function hostLines(members: readonly FleetMember[]): readonly string[] {
  const host = [...new Set(members.flatMap((node) => node.leftOut))].sort();
  const unknown = [...new Set(members.flatMap((node) => node.unknown ?? []))].sort();
  return [
    ...(host.length === 0
      ? []
      : [`left to the nodes (set up with the host, or denied by default): ${host.join(', ')}`]),
    ...(unknown.length === 0 ? [] : [`left to the nodes (not known to this release): ${firstNames(unknown, 20)}`]),
  ];
}

function nextSteps({ grouped, leftOut, into, folder, cluster, compare, written }: Outcome): readonly string[] {
  const owners = written.written.includes('CODEOWNERS')
    ? [
        '  enter your teams in CODEOWNERS, and what the comments of your pipeline ask for; delete the other forge’s file',
      ]
    : [];
  const waiting = grouped.groups.filter(({ excluded }) => excluded > 0).map(({ name }) => `pools/${name}/pool.yaml`);
  return [
    'next:',
    `  kubelet-gitops validate ${into} --cluster ${cluster}`,
    '  rename a pool now or later, and no kubelet restarts: git mv pools/OLD pools/NEW',
    ...(leftOut.length === 0 ? [] : [`  bring in a node that was left out: ${wayIn(waiting)}; plan says what it gets`]),
    ...owners,
    ...(folder === '' ? [] : inFolderLines(folder)),
    `  commit ${into}, and see that no kubelet restarts: kubelet-gitops plan --repo ${into} ${compare}`,
  ];
}

/** @param waiting files of the pools that leave nodes out by their names */
const wayIn = (waiting: readonly string[]): string =>
  waiting.length === 0
    ? 'add its name to the nodeSelector of a pool'
    : `take its name from the values of ${HOSTNAME} in ${waiting.join(', ')}`;

/** What has to be at the root, or to know the folder, where the repository is a folder of another one. */
const inFolderLines = (folder: string): readonly string[] => [
  `  as ${folder} is a folder of a repository: GIT_PATH=${folder} for its reconciler, /${folder}/ in the CODEOWNERS of the root, and the pipeline,`,
  `    GitHub: git mv ${folder}/.github/workflows/kubelet-config.yaml .github/workflows/kubelet-config-${folder.replaceAll('/', '-')}.yaml, with its own name: and path: ${folder}`,
  `    GitLab: include ${folder}/.gitlab-ci.yml in the root’s, with path: ${folder}`,
];
