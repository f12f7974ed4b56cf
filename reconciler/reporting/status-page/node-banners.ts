import { firstLines } from '#shared/runtime/first-few.ts';
import { formatConflicts, conflictsAmong } from '../../policy/pool-selection/conflict-lines.ts';
import type { PassResult } from '../pass-result.ts';
import type { Banner, NodeRow } from './model.ts';

/** As long an agent may take to report for the first time, on a node that was just made. */
const FIRST_REPORT_MS = 3_600_000;
const MOST_NODES = 3;

/**
 * What single nodes suffer from: a pool goes on as long as few enough of its nodes fail, and says nothing of them. Pure.
 *
 * @param halted names of pools whose failures have a banner already
 */
export function nodeBanners(
  round: PassResult,
  nodes: readonly NodeRow[],
  halted: ReadonlySet<string>,
): readonly Banner[] {
  const { fleet, planned, at } = round;
  const isBroken = ({ name }: NodeRow): boolean => fleet.kubeletNodes.get(name)?.status?.phase === 'Broken';
  const isSilent = ({ name, state, heartbeat }: NodeRow): boolean =>
    state === 'no-agent' && (heartbeat !== '' || at - (fleet.nodes.get(name)?.createdAt ?? at) > FIRST_REPORT_MS);
  const failed = nodes.filter((node) => node.state === 'failed' && !halted.has(node.pool) && !isBroken(node));
  return [
    ...told(nodes.filter(isBroken), 'bad', 'healthy with none of its configs', BROKEN),
    ...told(
      nodes.filter(({ state }) => state === 'failing'),
      'bad',
      'not in order with a proven config',
      FAILING,
    ),
    ...told(failed, 'busy', 'back from a config that failed there', FAILED),
    ...told(nodes.filter(isSilent), 'busy', 'without an agent that reports', SILENT),
    ...conflicts(formatConflicts(conflictsAmong(planned.nodes.skipped))),
    ...told(
      nodes.filter(({ state }) => state === 'drifted'),
      'busy',
      'drifted from its config',
      DRIFTED,
    ),
    ...told(
      nodes.filter(({ unseen }) => unseen !== '').map((node) => ({ ...node, error: node.unseen })),
      'busy',
      'with a running config that cannot be seen',
      UNSEEN,
    ),
  ];
}

const BROKEN = ['Look at its kubelet first: `docs/runbooks/KubeletGitopsNodeBroken.md`'];
const FAILING = ['If their kubelets were upgraded: `docs/upgrade.md`, after a kubelet upgrade'];
const FAILED = [
  'They run what they ran before, and take places of their pool’s budget. The pool goes on until `onFailure.threshold` of them failed.',
  'Why one failed: `kubectl describe knode NODE`. Fix the node, or commit a better config.',
];
const SILENT = [
  'They keep what they run, and take places of their pool’s budget.',
  'See what became of their agents: `kubectl -n kubelet-gitops get pods -o wide -l app.kubernetes.io/component=agent`',
];
const DRIFTED = [
  'Somebody changed their files, or their kubelets run another config. See `kubectl describe knode NODE`',
];

const UNSEEN = [
  'Their agents see the kubelets’ health, but not what they run: no drift of that is found, and no flag that wins over the config.',
  'What is missing there: `kubelet-gitops doctor`, running-config-unseen',
];

function told(
  nodes: readonly NodeRow[],
  tone: Banner['tone'],
  what: string,
  remedies: readonly string[],
): readonly Banner[] {
  if (nodes.length === 0) return [];
  const lines = nodes.map(({ name, error }) => (error === '' ? name : `${name}: ${error}`));
  const title = `${nodes.length === 1 ? '1 node is' : `${nodes.length.toLocaleString('en')} nodes are`} ${what}`;
  return [{ tone, title, text: firstLines(lines, MOST_NODES), remedies }];
}

function conflicts(lines: readonly string[]): readonly Banner[] {
  if (lines.length === 0) return [];
  return [
    {
      tone: 'busy',
      title: 'Two pools want the same nodes',
      text: lines.join('\n'),
      remedies: ['They keep what they run until a commit decides: another `priority`, or selectors that differ.'],
    },
  ];
}
