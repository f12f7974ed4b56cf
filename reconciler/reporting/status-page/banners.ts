import type { Millis } from '#shared/runtime/clock.ts';
import { firstLines } from '#shared/runtime/first-few.ts';
import { formatFailedWrite } from '../../policy/pool-status/failed-write-line.ts';
import { runbookOf } from '../../policy/runbook.ts';
import type { PassResult } from '../pass-result.ts';
import type { Banner, NodeRow, PoolModel } from './model.ts';
import { nodeBanners } from './node-banners.ts';

/** The reconciler looks at least every quarter of a minute: an older picture means that it cannot. */
const STALE_AFTER_MS = 90_000;
const MINUTE_MS = 60_000;

/** What a person has to know before anything else, the worst first. Pure. */
export function bannersOf(
  round: PassResult,
  pools: readonly PoolModel[],
  nodes: readonly NodeRow[],
  now: Millis,
): readonly Banner[] {
  const halted = new Set(pools.flatMap(({ name, state }) => (state === 'halted' ? [name] : [])));
  return [
    ...staleness(round.at, now),
    ...pools.filter(({ state }) => state === 'halted').map((pool) => haltOf(pool, round)),
    ...refusal(round),
    ...gitFailure(round),
    ...unwritten(round),
    ...nodeBanners(round, nodes, halted),
    ...pools.filter(({ findings }) => findings.length > 0).map(invalidity),
    ...pools.filter(({ approvals }) => approvals.length > 0).map(pause),
    ...pools.filter(({ state }) => state === 'suspended').map(suspension),
    ...pools.filter(({ state }) => state === 'blocked').map(blockage),
  ];
}

/** @param leader null if this process leads, '' without a leader */
export function noLeaderBanner(leader: string | null): readonly Banner[] {
  if (leader !== '') return [];
  return [
    {
      tone: 'bad',
      title: 'No reconciler leads',
      text: 'Nothing changes until one does. Nodes keep their configs, and still take back what fails.',
      remedies: ['Another takes over within half a minute. If none does: `kubectl -n kubelet-gitops get pods,leases`'],
    },
  ];
}

function staleness(at: Millis, now: Millis): readonly Banner[] {
  if (now - at <= STALE_AFTER_MS) return [];
  const minutes = Math.floor((now - at) / MINUTE_MS);
  return [
    {
      tone: 'bad',
      title: 'This picture is old',
      text: `The cluster was last read ${minutes} min ago. Nodes keep their configs.`,
      remedies: [
        'See what stops it: `kubectl -n kubelet-gitops logs deploy/kubelet-gitops-reconciler`',
        'Most often the API server cannot be reached, or refuses a write.',
      ],
    },
  ];
}

const MOST_FAILURES = 3;

function haltOf({ name, says, failures, haltLines }: PoolModel, { planned }: PassResult): Banner {
  const reverts = planned.pools.get(name)?.halt?.action === 'revert';
  const lines = failures.slice(0, MOST_FAILURES).map((each) => `${each.node}: ${each.reason}: ${each.message}`);
  return {
    tone: 'bad',
    title: `Pool ${name} is halted`,
    text: [says, ...haltLines, ...lines].join('\n'),
    remedies: [
      reverts
        ? 'Nodes that run the failed config are taken back to the one before.'
        : 'Nodes that run the config keep it, no other node gets it.',
      'Where the config is at fault, commit another one or revert the commit: that ends the halt.',
      `Where it is not, let the pool try again: \`kubelet-gitops release ${name}\``,
    ],
  };
}

const seeRunbook = (topic: Parameters<typeof runbookOf>[0]): string =>
  `Every reason, and what to do: \`${runbookOf(topic)}\``;

function refusal({ source }: PassResult): readonly Banner[] {
  if (source.refusedCommit === '') return [];
  return [
    {
      tone: 'bad',
      title: `Commit ${source.refusedCommit.slice(0, 12)} is refused`,
      text: source.refusedBecause,
      remedies: ['The commit before stays in force until another one is pushed.', seeRunbook('CommitRefused')],
    },
  ];
}

function gitFailure({ source }: PassResult): readonly Banner[] {
  if (source.failure === '') return [];
  return [
    {
      tone: 'bad',
      title: 'The repository cannot be read',
      text: `Since ${source.failingSince.replace('T', ' ').replace(/Z$/, ' UTC')}: ${source.failure}`,
      remedies: ['The commit in force stays. New commits are not seen until this is fixed.', seeRunbook('GitStale')],
    },
  ];
}

/** What is decided and does not happen. The pool's status may be what cannot be written, so it is taken from the pass itself. */
function unwritten({ planned }: PassResult): readonly Banner[] {
  const lines = [...planned.pools].flatMap(([pool, { unwritten: writes = [] }]) =>
    writes.map((write) => `${write.node ?? pool}: ${formatFailedWrite(write)}`),
  );
  if (lines.length === 0) return [];
  return [
    {
      tone: 'bad',
      title: `${lines.length === 1 ? '1 write fails' : `${lines.length} writes fail`} again and again`,
      text: firstLines(lines, MOST_FAILURES),
      remedies: ['What they were to change stays as it is; they are tried again.', seeRunbook('WritesRefused')],
    },
  ];
}

function invalidity({ name, findings }: PoolModel): Banner {
  return {
    tone: 'busy',
    title: `The commit has findings in pool ${name}`,
    text: findings.join('\n'),
    remedies: [
      'Errors keep the pool as it was; warnings do not. Fix them in the repository.',
      seeRunbook('PoolConfigInvalid'),
    ],
  };
}

function suspension({ name, says }: PoolModel): Banner {
  return {
    tone: 'busy',
    title: `Pool ${name} is suspended`,
    text: says,
    remedies: [
      'No further node starts; changes in progress finish.',
      `End it where it began: \`kubelet-gitops resume ${name}\`, or take \`suspend: true\` out of the file in git.`,
    ],
  };
}

function pause({ name, approvals }: PoolModel): Banner {
  return {
    tone: 'busy',
    title: `Pool ${name} waits for a person`,
    text: approvals.join('\n'),
    remedies: [
      `Look at the nodes that run the config. To let it go on: \`kubelet-gitops approve ${name}\``,
      'Otherwise commit another config: it ends the wait.',
      seeRunbook('WaitsForApproval'),
    ],
  };
}

function blockage({ name, holds }: PoolModel): Banner {
  const blocked = holds.find(({ reason }) => reason === 'blocked');
  return {
    tone: 'busy',
    title: `Pool ${name} waits for a blocker`,
    text: blocked?.message ?? '',
    remedies: ['It continues when that is quiet again.'],
  };
}
