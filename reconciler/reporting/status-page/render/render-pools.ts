import { type Html, html } from '../html.ts';
import type { PoolModel, StateCount } from '../model.ts';
import { pageAddress, ALL_NODES } from '../page-request.ts';
import { type Column, table } from './html-table.ts';
import { countOf, nodeTone, nodeLabel, poolBadge } from './state-badges.ts';

const COLUMNS: readonly Column<PoolModel>[] = [
  {
    heading: 'Pool',
    cell: ({ name }) => html`<a href="${pageAddress({ page: 'pool', pool: name, filter: ALL_NODES })}">${name}</a>`,
  },
  { heading: 'State', cell: ({ state }) => poolBadge(state) },
  { heading: 'Nodes', cell: (pool) => html`${upToDate(pool)}${stateBar(pool.states)}` },
  { heading: 'Config', cell: configOf },
  { heading: 'Details', cell: ({ state, says }) => (state === 'settled' ? 'up to date' : says) },
];

export function renderPools(pools: readonly PoolModel[]): Html {
  return html`<section aria-labelledby="pools">
    <h2 id="pools">Pools</h2>
    ${pools.length === 0 ? html`<p>No pool is known yet.</p>` : table('Every pool, the config of its nodes, and their progress', COLUMNS, pools)}
  </section>`;
}

/** No node runs the template of a pool with computed values. */
export function configOf({ classes, target }: PoolModel): Html {
  if (classes.length === 0) return html`<code>${target}</code>`;
  return html`${classes.length === 1 ? 'that of 1 class' : `one for each of ${classes.length} classes`} of machines`;
}

function upToDate({ counts }: PoolModel): Html {
  return html`<span class="figure">${counts.updated} of ${countOf(counts.nodes, 'node')} up to date</span>`;
}

/** The nodes by state, as a bar. It says nothing that the words beside it do not. */
export function stateBar(states: readonly StateCount[]): Html | null {
  const total = states.reduce((sum, { nodes }) => sum + nodes, 0);
  if (total === 0) return null;
  let from = 0;
  const parts = states.toReversed().map(({ state, nodes }) => {
    const width = (nodes / total) * 100;
    const part = html`<rect
      class="${nodeTone(state)} ${state}"
      x="${round(from)}"
      y="0"
      width="${round(width)}"
      height="6"
      ><title>${nodes} ${nodeLabel(state)}</title></rect
    >`;
    from += width;
    return part;
  });
  return html`<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    ${parts}
  </svg>`;
}

const round = (value: number): string => value.toFixed(2);
