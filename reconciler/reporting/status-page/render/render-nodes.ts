import { type Html, html } from '../html.ts';
import type { NodeRow, StateCount } from '../model.ts';
import { NODE_STATES } from '../node-rows.ts';
import { pageAddress, ALL_NODES, type NodeFilter } from '../page-request.ts';
import { type Column, table } from './html-table.ts';
import { dateAndTime } from './html-time.ts';
import { countOf, nodeBadge, nodeLabel } from './state-badges.ts';

/** Where the nodes are shown: a pool's own page, or that of all nodes (''). */
type Place = string;

const questionAt = (pool: Place, filter: NodeFilter) =>
  pool === '' ? ({ page: 'nodes', filter } as const) : ({ page: 'pool', pool, filter } as const);

/** Nodes with a form to choose among them, a table, and links to the other pages of it. */
export function renderNodes(nodes: readonly NodeRow[], pool: Place, filter: NodeFilter): Html {
  const selection = selectNodes(nodes, filter);
  const caption = `${countOf(selection.found, 'node')}${described(filter)}${position(selection)}`;
  const columns = pool === '' ? COLUMNS : COLUMNS.filter((column) => column !== POOL);
  return html`<section aria-labelledby="nodes">
    <h2 id="nodes">Nodes</h2>
    ${renderForm(pool, filter)}
    ${selection.found === 0 ? html`<p>No node matches. <a href="${pageAddress(questionAt(pool, ALL_NODES))}">Show all</a></p>` : table(caption, columns, selection.rows)}
    ${renderPager(pool, filter, selection)}
  </section>`;
}

/** How many nodes are in each state, each a link to them. */
export function renderStateLinks(states: readonly StateCount[], pool: Place): Html {
  return html`<ul class="states">
    ${states.map(
      ({ state, nodes }) =>
        html`<li>
          <a href="${pageAddress(questionAt(pool, { ...ALL_NODES, state }))}"
            >${nodeBadge(state)} <b>${countOf(nodes, 'node')}</b></a
          >
        </li>`,
    )}
  </ul>`;
}

const POOL: Column<NodeRow> = { heading: 'Pool', cell: ({ pool }) => (pool === '' ? '–' : pool) };

const COLUMNS: readonly Column<NodeRow>[] = [
  { heading: 'Node', cell: ({ name }) => name },
  { heading: 'State', cell: ({ state }) => nodeBadge(state) },
  POOL,
  { heading: 'Why', cell: whyOf },
  {
    heading: 'Config',
    cell: ({ assigned, active }) =>
      active === assigned ? html`<code>${active}</code>` : html`<code>${active}</code>, to be <code>${assigned}</code>`,
  },
  { heading: 'Kubelet', cell: ({ kubelet }) => kubelet },
  { heading: 'Agent seen', cell: ({ heartbeat }) => (heartbeat === '' ? 'never' : dateAndTime(heartbeat)) },
];

function whyOf({ now, because, progress, error }: NodeRow): Html {
  const held = now === 'nothing to do' || now === 'change now' ? null : html`<span class="hold">${now}</span>: `;
  return html`${held}${because}${progress === '' ? null : html` (${progress})`}${error === '' ? null : html`<br /><span class="error">${error}</span>`}`;
}

function renderForm(pool: Place, { name, state }: NodeFilter): Html {
  const options = ['' as const, ...NODE_STATES].map((each) => {
    const word = each === '' ? 'any state' : nodeLabel(each);
    return each === state
      ? html`<option value="${each}" selected>${word}</option>`
      : html`<option value="${each}">${word}</option>`;
  });
  return html`<form
    method="get"
    action="${pool === '' ? 'nodes' : 'pool'}"
    class="filter"
    role="search"
    aria-label="Choose nodes"
  >
    ${pool === '' ? null : html`<input type="hidden" name="name" value="${pool}" />`}
    <label for="state">State</label>
    <select id="state" name="state">
      ${options}
    </select>
    <label for="node">Name contains</label>
    <input id="node" name="node" value="${name}" maxlength="253" autocomplete="off" spellcheck="false" />
    <button type="submit">Show</button>
  </form>`;
}

function renderPager(pool: Place, filter: NodeFilter, { page, pages }: NodeSelection): Html | null {
  if (pages === 1) return null;
  const link = (to: number, text: string, rel: string): Html | null =>
    to < 1 || to > pages
      ? null
      : html`<a href="${pageAddress(questionAt(pool, { ...filter, page: to }))}" rel="${rel}">${text}</a>`;
  return html`<nav class="pager" aria-label="Pages of nodes">
    ${link(page - 1, 'Previous', 'prev')} <span>Page ${page} of ${pages}</span> ${link(page + 1, 'Next', 'next')}
  </nav>`;
}

function described({ name, state }: NodeFilter): string {
  return `${state === '' ? '' : `, ${nodeLabel(state)}`}${name === '' ? '' : `, with “${name}” in the name`}`;
}

function position({ page, pages, found }: NodeSelection): string {
  if (pages === 1) return '';
  const from = (page - 1) * NODES_PER_PAGE;
  return `; these are ${from + 1} to ${Math.min(found, from + NODES_PER_PAGE)}`;
}

/** So many rows are on a page: a table that a browser draws at once and a person can still look through. */
const NODES_PER_PAGE = 100;

/** A page of the nodes that a filter lets through. */
interface NodeSelection {
  readonly rows: readonly NodeRow[];
  /** How many there are on all pages. */
  readonly found: number;
  /** Within 1 and `pages`. */
  readonly page: number;
  /** At least 1. */
  readonly pages: number;
}

/** Pure. A page beyond the last one is the last one. */
function selectNodes(nodes: readonly NodeRow[], { name, state, page }: NodeFilter): NodeSelection {
  const found = nodes.filter((node) => (state === '' || node.state === state) && node.name.includes(name));
  const pages = Math.max(1, Math.ceil(found.length / NODES_PER_PAGE));
  const shown = Math.min(Math.max(1, page), pages);
  const from = (shown - 1) * NODES_PER_PAGE;
  return { rows: found.slice(from, from + NODES_PER_PAGE), found: found.length, page: shown, pages };
}
