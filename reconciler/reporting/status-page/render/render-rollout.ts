import { approvedBy } from '../../../policy/pool-status/approval-lines.ts';
import { type Html, html } from '../html.ts';
import type { PoolModel, RolloutModel, WaveBar } from '../model.ts';
import { renderGenerations } from './render-generations.ts';
import { renderProgress } from './render-progress.ts';
import { type Column, table } from './html-table.ts';
import { dateAndTime, timeOfDay } from './html-time.ts';
import { timelineBar } from './timeline-bar.ts';
import { countOf, waveBadge, waveTone } from './state-badges.ts';

const COLUMNS: readonly Column<WaveBar>[] = [
  { heading: 'Wave', cell: ({ name }) => name },
  { heading: 'State', cell: stateOf },
  { heading: 'Nodes when it is done', cell: ({ nodes }) => nodes, numeric: true },
  { heading: 'Began', cell: ({ startedAt = '' }) => timeOfDay(startedAt) },
  { heading: 'Done', cell: ({ doneAt = '' }) => timeOfDay(doneAt) },
  { heading: 'Timeline', cell: ({ span, state }) => timelineBar(span, waveTone(state)) },
];

/** With who approved what follows it. */
function stateOf(wave: WaveBar): Html {
  if (wave.pausedAt === undefined) return waveBadge(wave.state);
  return wave.approvedAt === undefined ? waveBadge('paused') : html`${waveBadge(wave.state)} ${approvedBy(wave) ?? ''}`;
}

/** The rollouts that are under way, each with its waves. */
export function renderRollouts(pools: readonly PoolModel[]): Html {
  const running = pools.filter(({ rollout }) => rollout !== null && rollout.finishedAt === '');
  return html`<section aria-labelledby="rollouts">
    <h2 id="rollouts">Rollouts in progress</h2>
    ${running.length === 0 ? html`<p>No rollout in progress.</p>` : running.map(runningRollout)}
  </section>`;
}

function runningRollout(pool: PoolModel): Html {
  return html`<article>
    <h3>${pool.name}</h3>
    <p>${pool.says}</p>
    ${renderRollout(pool)}
  </article>`;
}

/** The rollout of a pool: how far it has come, when it began, and its waves and generations along a line of time. */
export function renderRollout(pool: PoolModel): Html | null {
  if (pool.rollout === null) return null;
  const { configName, startedAt, finishedAt, waves, generations }: RolloutModel = pool.rollout;
  const caption = html`<code>${configName}</code> since
    ${dateAndTime(startedAt)}${finishedAt === '' ? null : html`, finished ${dateAndTime(finishedAt)}`}, in
    ${countOf(waves.length, 'wave')}. Times of day are UTC.`;
  return html`${renderProgress(pool)}${table(caption, COLUMNS, waves)}${renderGenerations(generations)}`;
}
