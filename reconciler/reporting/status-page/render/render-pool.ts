import type { PoolFailure } from '#shared/contract/api/kubelet-pool.ts';
import { type Html, html } from '../html.ts';
import type { PoolModel, WorkingModel } from '../model.ts';
import type { NodeFilter } from '../page-request.ts';
import { renderNodes, renderStateLinks } from './render-nodes.ts';
import { renderClasses } from './render-classes.ts';
import { configOf, stateBar } from './render-pools.ts';
import { renderRollout } from './render-rollout.ts';
import { type Column, table } from './html-table.ts';
import { dateAndTime } from './html-time.ts';
import { countOf, poolBadge } from './state-badges.ts';

/** The page of one pool. */
export function renderPool({ nodes }: WorkingModel, pool: PoolModel, filter: NodeFilter): Html {
  const members = nodes.filter((node) => node.pool === pool.name);
  return html`<h1>Pool ${pool.name} ${poolBadge(pool.state)}</h1>
    <p class="says">${pool.says}</p>
    ${pool.haltLines.map((line) => html`<p class="says">${line}</p>`)} ${stateBar(pool.states)}
    ${renderStateLinks(pool.states, pool.name)}
    <dl class="facts">
      <div>
        <dt>Config</dt>
        <dd>${configOf(pool)}</dd>
      </div>
      ${
        pool.settledOn === '' || pool.classes.length > 0
          ? null
          : html`<div>
              <dt>Last config that all of them proved</dt>
              <dd><code>${pool.settledOn}</code></dd>
            </div>`
      }
    </dl>
    ${renderClasses(pool.classes)}
    ${
      pool.rollout === null
        ? null
        : html`<section aria-labelledby="rollout">
            <h2 id="rollout">${pool.rollout.finishedAt === '' ? 'Rollout in progress' : 'Last rollout'}</h2>
            ${renderRollout(pool)}
          </section>`
    }
    ${renderHolds(pool)}
    ${
      pool.failures.length === 0
        ? null
        : html`<section aria-labelledby="failures">
            <h2 id="failures">Failures</h2>
            ${table('Nodes that took the config back', FAILURES, pool.failures)}
          </section>`
    }
    ${renderNodes(members, pool.name, filter)}`;
}

function renderHolds({ holds }: PoolModel): Html | null {
  if (holds.length === 0) return null;
  const lines = holds.map(
    ({ reason, nodes, message }) =>
      html`<li>${countOf(nodes, 'node')} (<span class="hold">${reason}</span>): ${message}</li>`,
  );
  return html`<section aria-labelledby="holds">
    <h2 id="holds">Why nodes wait</h2>
    <ul>
      ${lines}
    </ul>
  </section>`;
}

const FAILURES: readonly Column<PoolFailure>[] = [
  { heading: 'Node', cell: ({ node }) => node },
  { heading: 'Reason', cell: ({ reason }) => html`<code>${reason}</code>` },
  { heading: 'What the agent says', cell: ({ message }) => message },
  { heading: 'Config', cell: ({ config }) => html`<code>${config}</code>` },
  { heading: 'When', cell: ({ at }) => dateAndTime(at) },
];
