import { firstLines } from '#shared/runtime/first-few.ts';
import { formatConflicts, conflictsAmong } from '../../policy/pool-selection/conflict-lines.ts';
import type { Fleet } from '../../policy/fleet.ts';
import { nodeTrouble, silence, type TroubleKind } from '../../policy/pool-status/node-trouble.ts';
import { runbookOf } from '../../policy/runbook.ts';
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
  const isSilent = ({ name, state, heartbeat }: NodeRow): boolean =>
    state === 'no-agent' && (heartbeat !== '' || at - (fleet.nodes.get(name)?.createdAt ?? at) > FIRST_REPORT_MS);
  const failed = nodes.filter((node) => node.state === 'failed' && !halted.has(node.pool));
  return [
    ...troubled(nodes, fleet, 'broken'),
    ...troubled(nodes, fleet, 'failing'),
    ...troubled(nodes, fleet, 'unhealthy'),
    ...told(failed, 'busy', 'back from a config that failed there', FAILED),
    ...told(
      nodes.filter(isSilent).map(({ name }) => ({ name, error: silence(fleet.kubeletNodes.get(name), at) ?? '' })),
      'busy',
      'without an agent that reports',
      SILENT,
    ),
    ...conflicts(formatConflicts(conflictsAmong(planned.nodes.skipped))),
    ...troubled(nodes, fleet, 'drifted'),
    ...told(
      nodes.filter(({ unseen }) => unseen !== '').map((node) => ({ ...node, error: node.unseen })),
      'busy',
      'with a running config that cannot be seen',
      UNSEEN,
    ),
  ];
}

interface TroubleWords {
  readonly tone: Banner['tone'];
  readonly what: string;
  readonly remedies: readonly string[];
}

const TROUBLES: Readonly<Record<TroubleKind, TroubleWords>> = {
  broken: {
    tone: 'bad',
    what: 'healthy with none of its configs',
    remedies: ['Look at the kubelet there first.'],
  },
  failing: {
    tone: 'bad',
    what: 'not in order with a proven config',
    remedies: ['If the kubelets were upgraded: `docs/upgrade.md`, after a kubelet upgrade'],
  },
  unhealthy: {
    tone: 'bad',
    what: 'without a healthy kubelet',
    remedies: ['No change of ours is under way there: look at the kubelet and the machine.'],
  },
  drifted: {
    tone: 'busy',
    what: 'drifted from its config',
    remedies: ['Somebody changed files there, or the kubelet runs another config.'],
  },
};

/** In the words of every other screen. */
function troubled(nodes: readonly NodeRow[], { kubeletNodes }: Fleet, kind: TroubleKind): readonly Banner[] {
  const { tone, what, remedies } = TROUBLES[kind];
  const found = nodes.flatMap(({ name }) => {
    const trouble = nodeTrouble(kubeletNodes.get(name));
    return trouble?.kind === kind ? [{ name, error: trouble.message, ...trouble }] : [];
  });
  const looks = [...new Set(found.flatMap(({ look }) => look ?? []))].map((look) => `On the node: \`${look}\``);
  return told(found, tone, what, [...remedies, ...looks, ...found.slice(0, 1).map(({ runbook }) => readIn(runbook))]);
}

const readIn = (runbook: string): string => `What to do, step by step: \`${runbook}\``;

const FAILED = [
  'They run what they ran before, and take places of their pool’s budget. The pool goes on until `onFailure.threshold` of them failed.',
  'Why one failed: `kubectl describe knode NODE`. Fix the node, or commit a better config.',
  readIn(runbookOf('NodeConfigError')),
];
const SILENT = [
  'They keep what they run, and take places of their pool’s budget.',
  'See what became of their agents: `kubectl -n kubelet-gitops get pods -o wide -l app.kubernetes.io/component=agent`',
  readIn(runbookOf('AgentsSilent')),
];

const UNSEEN = [
  'Their agents see the kubelets’ health, but not what they run: no drift of that is found, and no flag that wins over the config.',
  'What is missing there: `kubelet-gitops doctor`, running-config-unseen',
];

function told(
  nodes: readonly Pick<NodeRow, 'name' | 'error'>[],
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
      remedies: [
        'They keep what they run until a commit decides: another `priority`, or selectors that differ.',
        readIn(runbookOf('NodesInConflict')),
      ],
    },
  ];
}
