import { type Html, html } from '#reconciler/reporting/status-page/html.ts';
import { table } from '#reconciler/reporting/status-page/render/html-table.ts';
import { countOf } from '#reconciler/reporting/status-page/render/state-badges.ts';
import type { FleetConfig, FleetGroup } from '../audit-report.ts';
import { nodeNames } from './html-checks.ts';
import { bar } from './html-bar.ts';
import { split } from './words.ts';

/** `-o json` has all. */
const MOST_GROUPS = 50;
const MOST_CONFIGS = 12;
const MOST_DIFFERENCES = 20;

/** The groups of nodes by size: how many of each run the same, how many something else, and what. */
export function groupsPicture(groups: readonly FleetGroup[]): Html {
  const { first, more } = split(groups, MOST_GROUPS);
  const largest = Math.max(...groups.map(({ count }) => count));
  return html`${table(
    'Nodes by label. In each bar: those with the most common config of the group, then all others.',
    [
      { heading: 'Group', cell: ({ name }) => name },
      { heading: 'Nodes', cell: (group) => html`${sizeOf(group)}${sizeBar(group, largest)}` },
      { heading: 'Kubelets', cell: ({ versions, count }) => versionsOf(versions, count) },
      { heading: 'Selected by', cell: ({ labels }) => (labels === '' ? 'no label' : html`<code>${labels}</code>`) },
    ],
    first,
  )}${more === 0 ? null : html`<p>And ${more} smaller groups.</p>`}
  ${first.filter(({ configs }) => configs.length > 1).map(renderOthers)}`;
}

function sizeOf({ count, configs }: FleetGroup): string {
  const same = configs[0]?.count ?? 0;
  return configs.length <= 1
    ? `${countOf(count, 'node')}, all the same`
    : `${countOf(count, 'node')}, ${same} the same; ${countOf(configs.length, 'config')}`;
}

function sizeBar({ count, configs }: FleetGroup, largest: number): Html {
  const same = configs[0]?.count ?? 0;
  return bar(
    [
      { length: same, look: 'good' },
      { length: count - same, look: 'busy' },
    ],
    largest,
  );
}

const versionsOf = (versions: FleetGroup['versions'], count: number): string =>
  versions.map((each) => (each.count === count ? each.version : `${each.version} (${each.count})`)).join(', ');

function renderOthers({ name, configs }: FleetGroup): Html {
  const { first, more } = split(configs.slice(1), MOST_CONFIGS);
  return html`<details class="check">
    <summary><b>${name}</b>: ${countOf(configs.length - 1, 'other config')}</summary>
    ${table(
      'Against the most common config of the group',
      [
        { heading: 'Nodes', cell: ({ nodes, count }: FleetConfig) => nodeNames(nodes, count) },
        { heading: 'What differs', cell: ({ differences }: FleetConfig) => renderDifferences(differences) },
      ],
      first,
    )}${more === 0 ? null : html`<p>And ${more} more.</p>`}
  </details>`;
}

function renderDifferences(differences: FleetConfig['differences']): Html {
  const { first, more } = split(differences, MOST_DIFFERENCES);
  const lines = first.map(
    ({ field, value, others }) =>
      html`<div>
        <code>${field}: ${value}</code> <span class="origin">others: <code>${others}</code></span>
      </div> `,
  );
  return html`${lines}${more === 0 ? null : html`<div>and ${more} more</div>`}`;
}
