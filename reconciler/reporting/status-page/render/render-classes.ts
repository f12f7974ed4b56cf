import type { ClassStatus } from '#shared/contract/api/kubelet-pool.ts';
import { type Html, html } from '../html.ts';
import { type Column, table } from './html-table.ts';

const COLUMNS: readonly Column<ClassStatus>[] = [
  { heading: 'Machines', cell: ({ name }) => (name === '' ? 'others' : html`<code>${name}</code>`) },
  { heading: 'Nodes', cell: ({ nodes }) => nodes, numeric: true },
  { heading: 'Run their config', cell: ({ updated }) => updated ?? '–', numeric: true },
  { heading: 'Config', cell: configOf },
];

/** The classes of a pool with computed values, the most urgent first; nothing for other pools. */
export function renderClasses(classes: readonly ClassStatus[]): Html | null {
  if (classes.length === 0) return null;
  return html`<section aria-labelledby="classes">
    <h2 id="classes">Classes of machines</h2>
    ${table('Each class of machines, and the config that is computed for it', COLUMNS, classes)}
  </section>`;
}

function configOf({ configName, message = '' }: ClassStatus): Html {
  return configName === undefined
    ? html`<span class="error">none, so its nodes keep what they have: ${message}</span>`
    : html`<code>${configName}</code>`;
}
