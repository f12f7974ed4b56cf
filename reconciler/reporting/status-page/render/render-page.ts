import { AUDIT_CONFIG_MAP, AUDIT_REPORT_KEY, sayAudit } from '#shared/contract/audit-summary.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { type Content, type Html, html } from '../html.ts';
import type { PageModel, WaitingModel, WorkingModel, Banner } from '../model.ts';
import { countStates } from '../node-rows.ts';
import { pageAddress, ALL_NODES, type PageRequest } from '../page-request.ts';
import { renderClusters } from './render-clusters.ts';
import { renderCommits } from './render-commits.ts';
import { renderNodes, renderStateLinks } from './render-nodes.ts';
import { renderPool } from './render-pool.ts';
import { renderPools } from './render-pools.ts';
import { renderRollouts } from './render-rollout.ts';
import { dateAndTime } from './html-time.ts';

/** A whole document, or null where what is asked for is not there. Pure: a function of the model and the question. */
export function renderPage(model: PageModel, question: PageRequest): Html | null {
  if (model.view === 'waiting') return layout(model, question, 'Waiting', renderWaiting(model));
  const [title, body] = content(model, question);
  return body === null ? null : layout(model, question, title, html`${renderLeader(model)}${body}`);
}

function content(model: WorkingModel, question: PageRequest): readonly [string, Html | null] {
  switch (question.page) {
    case 'overview':
      return ['Overview', renderOverview(model)];
    case 'nodes':
      return [
        'Nodes',
        html`<h1>All nodes</h1>
          ${renderStateLinks(countStates(model.nodes), '')}${renderNodes(model.nodes, '', question.filter)}`,
      ];
    case 'pool': {
      const pool = model.pools.find(({ name }) => name === question.pool);
      return [`Pool ${question.pool}`, pool === undefined ? null : renderPool(model, pool, question.filter)];
    }
  }
}

function renderOverview(model: WorkingModel): Html {
  return html`<h1>Kubelet configuration of ${model.cluster}</h1>
    ${renderBanners(model.banners)} ${renderPools(model.pools)} ${renderRollouts(model.pools)}
    <section aria-labelledby="by-state">
      <h2 id="by-state">Nodes by state</h2>
      ${renderStateLinks(countStates(model.nodes), '')}
    </section>
    ${renderClusters(model)} ${renderCommits(model)} ${renderAudit(model)}`;
}

/** What the kubelets run, safe or not, is a question that no rollout answers. */
function renderAudit({ audit = null }: WorkingModel): Html {
  const key = AUDIT_REPORT_KEY.replaceAll('.', '\\.');
  const read = `kubectl -n kubelet-gitops get configmap ${AUDIT_CONFIG_MAP} -o 'jsonpath={.binaryData.${key}}' | base64 -d | gunzip`;
  return html`<section aria-labelledby="audit">
    <h2 id="audit">Audit</h2>
    ${
      audit === null
        ? html`<p>
            None was published here. <code>kubelet-gitops audit</code> says whether what the kubelets run is safe, the
            same everywhere, and fit for the next upgrades.
          </p>`
        : html`<p>In the last audit ${sayAudit(audit)}. The report: <code>${read}</code></p>`
    }
  </section>`;
}

/** The leader that the page is about, if it is another process. */
function renderLeader({ leader }: WorkingModel): Html | null {
  if (leader === null) return null;
  // Behind the underscore stands what tells two lives of the same pod apart.
  const pod = leader.split('_', 1).join();
  const who =
    pod === ''
      ? null
      : html` <code>${pod}</code> leads; its own rounds are shown by
          <code>kubectl -n kubelet-gitops port-forward pod/${pod} 8081</code>`;
  return html`<p class="calm stands-in">
    This reconciler waits for its turn, and shows what the objects in the cluster say.${who}
  </p>`;
}

function renderWaiting({ cluster, holder, leads }: WaitingModel): Html {
  const who = holder === '' ? 'Nobody leads now, as far as is known.' : html`<code>${holder}</code> leads.`;
  return html`<h1>Kubelet configuration of ${cluster}</h1>
    ${
      leads
        ? html`<p class="calm">This reconciler leads, and has yet to look at the cluster for the first time.</p>`
        : html`<p class="calm">This reconciler waits for its turn, and has yet to see the cluster. ${who}</p>`
    }`;
}

function layout(model: PageModel, question: PageRequest, title: string, body: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · ${model.cluster} · kubelet-gitops</title>
        <link rel="icon" href="icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="style.css" />
        <link rel="stylesheet" href="content.css" />
        <script src="live.js" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <p class="product">kubelet-gitops <span class="cluster">${model.cluster}</span></p>
          <nav aria-label="Pages">
            ${link('./', 'Overview', question.page === 'overview')}
            ${link(pageAddress({ page: 'nodes', filter: ALL_NODES }), 'All nodes', question.page === 'nodes')}
          </nav>
          <p class="as-of" id="as-of">${asOf(model)}</p>
          <p class="live" id="live" role="status"></p>
          <p class="unseen" id="news" role="log"></p>
        </header>
        <main id="main" tabindex="-1">${body}</main>
        <footer><p>kubelet-gitops ${model.version}. This page only shows; nothing can be changed here.</p></footer>
      </body>
    </html> `;
}

const asOf = (model: PageModel): Content =>
  model.view === 'working' ? html`as of ${dateAndTime(toTimestamp(model.at))}` : 'waiting';

function link(href: string, text: string, isHere: boolean): Html {
  return isHere ? html`<a href="${href}" aria-current="page">${text}</a>` : html`<a href="${href}">${text}</a>`;
}

/** What needs a person, above everything else. */
function renderBanners(banners: readonly Banner[]): Html {
  if (banners.length === 0) return html`<p class="calm">All good: nothing needs attention.</p>`;
  return html`<section aria-labelledby="attention" class="banners">
    <h2 id="attention">What needs attention</h2>
    ${banners.map(renderBanner)}
  </section>`;
}

function renderBanner({ tone, title, text, remedies }: Banner): Html {
  const lines = text.split('\n').filter((line) => line !== '');
  return html`<article class="banner ${tone}">
    <h3><span class="sign" aria-hidden="true">${tone === 'bad' ? '✕' : '!'}</span> ${title}</h3>
    ${lines.map((line) => html`<p>${line}</p>`)}
    <ul>
      ${remedies.map((remedy) => html`<li>${withCode(remedy)}</li>`)}
    </ul>
  </article>`;
}

/** What stands between backquotes is a command. */
function withCode(text: string): readonly Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
