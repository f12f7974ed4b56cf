import { type Html, html } from '../html.ts';
import type { PoolModel, RolloutModel, WaveBar } from '../model.ts';
import { TIMELINE_END } from '../timeline.ts';
import { type Column, table } from './table.ts';
import { moment, timeOfDay } from './time.ts';
import { countOf, waveBadge, waveTone } from './words.ts';

const COLUMNS: readonly Column<WaveBar>[] = [
  { heading: 'Wave', cell: ({ name }) => name },
  { heading: 'State', cell: ({ state }) => waveBadge(state) },
  { heading: 'Nodes when it is done', cell: ({ nodes }) => nodes, numeric: true },
  { heading: 'Began', cell: ({ startedAt = '' }) => timeOfDay(startedAt) },
  { heading: 'Done', cell: ({ doneAt = '' }) => timeOfDay(doneAt) },
  { heading: 'Timeline', cell: waveBar },
];

/** The rollouts that are under way, each with its waves. */
export function renderRollouts(pools: readonly PoolModel[]): Html {
  const running = pools.filter(({ rollout }) => rollout !== null && rollout.finishedAt === '');
  return html`<section aria-labelledby="rollouts">
    <h2 id="rollouts">Rollouts in progress</h2>
    ${running.length === 0 ? html`<p>No rollout in progress.</p>` : running.map(runningRollout)}
  </section>`;
}

function runningRollout({ name, says, rollout }: PoolModel): Html | null {
  return rollout === null
    ? null
    : html`<article>
        <h3>${name}</h3>
        <p>${says}</p>
        ${renderRollout(rollout)}
      </article>`;
}

/** One rollout: when it began, how it stands, and its waves along a line of time. */
export function renderRollout({ configName, startedAt, finishedAt, waves }: RolloutModel): Html {
  const caption = html`<code>${configName}</code> since
    ${moment(startedAt)}${finishedAt === '' ? null : html`, finished ${moment(finishedAt)}`}, in
    ${countOf(waves.length, 'wave')}. Times of day are UTC.`;
  return table(caption, COLUMNS, waves);
}

function waveBar({ span, state }: WaveBar): Html {
  const from = span?.from ?? 0;
  const width = span === null ? 0 : Math.max(10, span.to - span.from);
  const x = Math.min(from, TIMELINE_END - width);
  return html`<svg
    class="bar wave"
    viewBox="0 0 ${TIMELINE_END} 6"
    preserveAspectRatio="none"
    aria-hidden="true"
    focusable="false"
  >
    <rect class="${waveTone(state)}" x="${x}" y="0" width="${width}" height="6"></rect>
  </svg>`;
}
