import { toTimestamp } from '#shared/runtime/clock.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { type Html, html } from '../html.ts';
import type { GenerationBar } from '../model.ts';
import { type Column, table } from './html-table.ts';
import { timeOfDay } from './html-time.ts';
import { timelineBar } from './timeline-bar.ts';
import { trialBadge, type TrialState } from './state-badges.ts';

const COLUMNS: readonly Column<GenerationBar>[] = [
  { heading: 'Generation', cell: ({ generation }) => (generation === 0 ? 'canaries' : `generation ${generation}`) },
  { heading: 'May be on trial', cell: ({ maxOnTrial }) => maxOnTrial, numeric: true },
  { heading: 'Nodes', cell: ({ nodes }) => firstFew(nodes) },
  { heading: 'State', cell: statesOf },
  { heading: 'Began', cell: ({ from }) => timeOfDay(toTimestamp(from)) },
  { heading: 'Done', cell: ({ doneAt }) => timeOfDay(doneAt === null ? '' : toTimestamp(doneAt)) },
  { heading: 'Timeline', cell: (bar) => timelineBar(bar.span, toneOf(bar)) },
];

/** Who got the config while how many might be on trial. */
export function renderGenerations(generations: readonly GenerationBar[]): Html | null {
  if (generations.length === 0) return null;
  return table('Generations: how many nodes might be on trial when a node began', COLUMNS, generations);
}

const STATES: readonly TrialState[] = ['failed', 'inProbation', 'onTrial', 'promoted'];

function statesOf(bar: GenerationBar): readonly Html[] {
  return STATES.filter((state) => bar[state] > 0).map((state) => html`${trialBadge(state, bar[state])} `);
}

const toneOf = ({ failed, doneAt }: GenerationBar): 'bad' | 'good' | 'busy' =>
  failed > 0 ? 'bad' : doneAt === null ? 'busy' : 'good';
