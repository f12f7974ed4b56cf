import type { WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { CommitOutcome } from '../../notes/commit-note.ts';
import { type Html, html } from '../html.ts';
import type { NodeState, PoolState } from '../model.ts';

/** What colour a state has. Beside it there is always a word, and a sign of another shape. */
export type PageTone = 'good' | 'busy' | 'bad' | 'quiet';

interface Word {
  readonly tone: PageTone;
  readonly sign: string;
  readonly word: string;
}

const NODE_WORDS: Readonly<Record<NodeState, Word>> = {
  failed: { tone: 'bad', sign: '✕', word: 'failed' },
  broken: { tone: 'bad', sign: '✕', word: 'broken' },
  failing: { tone: 'bad', sign: '✕', word: 'not in order' },
  unhealthy: { tone: 'bad', sign: '✕', word: 'kubelet down' },
  'no-agent': { tone: 'bad', sign: '?', word: 'no agent' },
  drifted: { tone: 'bad', sign: '≠', word: 'drifted' },
  'left-alone': { tone: 'bad', sign: '!', word: 'left alone' },
  updating: { tone: 'busy', sign: '↻', word: 'updating' },
  rebooting: { tone: 'busy', sign: '⏻', word: 'rebooting' },
  draining: { tone: 'busy', sign: '↓', word: 'draining' },
  starting: { tone: 'busy', sign: '→', word: 'starting now' },
  soaking: { tone: 'busy', sign: '◐', word: 'soaking' },
  waiting: { tone: 'quiet', sign: '○', word: 'waiting' },
  settled: { tone: 'good', sign: '✓', word: 'settled' },
  unselected: { tone: 'quiet', sign: '–', word: 'in no pool' },
};

const POOL_WORDS: Readonly<Record<PoolState, Word>> = {
  settled: { tone: 'good', sign: '✓', word: 'settled' },
  rolling: { tone: 'busy', sign: '↻', word: 'rolling' },
  soaking: { tone: 'busy', sign: '◐', word: 'soaking' },
  halted: { tone: 'bad', sign: '✕', word: 'halted' },
  suspended: { tone: 'busy', sign: '‖', word: 'suspended' },
  window: { tone: 'busy', sign: '○', word: 'waits for a window' },
  blocked: { tone: 'busy', sign: '!', word: 'blocked' },
  approval: { tone: 'busy', sign: '?', word: 'waits for a person' },
  waiting: { tone: 'busy', sign: '○', word: 'waiting' },
  empty: { tone: 'quiet', sign: '–', word: 'no nodes' },
  retiring: { tone: 'busy', sign: '↓', word: 'retiring' },
};

const OUTCOME_WORDS: Readonly<Record<CommitOutcome, Word>> = {
  settled: { tone: 'good', sign: '✓', word: 'settled' },
  progressing: { tone: 'busy', sign: '↻', word: 'under way' },
  halted: { tone: 'bad', sign: '✕', word: 'halted' },
  'partly-refused': { tone: 'bad', sign: '≠', word: 'partly refused' },
  refused: { tone: 'bad', sign: '✕', word: 'refused' },
  superseded: { tone: 'quiet', sign: '–', word: 'superseded' },
};

const WAVE_WORDS: Readonly<Record<WaveStatus['state'] | 'paused', Word>> = {
  paused: { tone: 'busy', sign: '?', word: 'done, waits for a person' },
  done: { tone: 'good', sign: '✓', word: 'done' },
  rolling: { tone: 'busy', sign: '↻', word: 'rolling' },
  soaking: { tone: 'busy', sign: '◐', word: 'soaking' },
  waiting: { tone: 'quiet', sign: '○', word: 'waiting' },
  stopped: { tone: 'bad', sign: '✕', word: 'stopped' },
};

/** The standing of a node with the config of a rollout assigned. */
export type TrialState = 'inProbation' | 'onTrial' | 'promoted' | 'failed';

const TRIAL_WORDS: Readonly<Record<TrialState, Word>> = {
  failed: { tone: 'bad', sign: '✕', word: 'failed' },
  inProbation: { tone: 'busy', sign: '↻', word: 'in probation' },
  onTrial: { tone: 'busy', sign: '◐', word: 'on trial' },
  promoted: { tone: 'good', sign: '✓', word: 'promoted' },
};

/** With how many of them there are. */
export const trialBadge = (state: TrialState, nodes: number): Html =>
  badge({ ...TRIAL_WORDS[state], word: `${GROUPED.format(nodes)} ${TRIAL_WORDS[state].word}` });

export const nodeBadge = (state: NodeState): Html => badge(NODE_WORDS[state]);
export const poolBadge = (state: PoolState): Html => badge(POOL_WORDS[state]);
export const waveBadge = (state: keyof typeof WAVE_WORDS): Html => badge(WAVE_WORDS[state]);
export const outcomeBadge = (outcome: CommitOutcome): Html => badge(OUTCOME_WORDS[outcome]);

/** In the words of another cluster, which may know more of them. */
export const notedBadge = (note: string): Html =>
  Object.hasOwn(OUTCOME_WORDS, note)
    ? outcomeBadge(note as CommitOutcome)
    : badge({ tone: 'quiet', sign: '?', word: note });

export const nodeLabel = (state: NodeState): string => NODE_WORDS[state].word;
export const waveTone = (state: WaveStatus['state']): PageTone => WAVE_WORDS[state].tone;
export const nodeTone = (state: NodeState): PageTone => NODE_WORDS[state].tone;

export function badge({ tone, sign, word }: Word): Html {
  return html`<span class="badge ${tone}"><span class="sign" aria-hidden="true">${sign}</span> ${word}</span>`;
}

/** `1 node`, `5,000 nodes`. */
export function countOf(count: number, one: string): string {
  return `${GROUPED.format(count)} ${one}${count === 1 ? '' : 's'}`;
}

const GROUPED = new Intl.NumberFormat('en');
