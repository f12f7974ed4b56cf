import { createHash } from 'node:crypto';
import { type Html, html, toText } from '#reconciler/reporting/status-page/html.ts';
import { table } from '#reconciler/reporting/status-page/render/html-table.ts';
import { dateAndTime } from '#reconciler/reporting/status-page/render/html-time.ts';
import { countOf } from '#reconciler/reporting/status-page/render/state-badges.ts';
import { VERSION } from '#shared/runtime/version.ts';
import type { AuditChanges, AuditReport, AuditSection, UnseenNodes } from '../audit-report.ts';
import { checkList, nodeNames, resultBadge, severityBadge } from './html-checks.ts';
import { groupsPicture } from './html-groups.ts';
import { roomPicture } from './html-room.ts';
import { STYLE } from './style.generated.ts';
import { seenLine, split } from './words.ts';

/** Nothing is loaded, run, sent or embedded; the one style is known by its hash, and the icon is empty: nobody asks a server for it. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'`;

const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<style>${STYLE}</style>
`;

/** Most changed checks that are listed; `-o json` has all. */
const MOST_CHANGES = 50;

/** One file without scripts that needs no network. On paper everything is unfolded. */
export function asHtml(report: AuditReport): string {
  const title = html`<title>Audit of ${report.source.of} · kubelet-gitops</title>`;
  return `${HEAD}${toText(title)}\n</head>\n${toText(renderBody(report))}\n</html>\n`;
}

function renderBody(report: AuditReport): Html {
  const { source, sections, unseen, since, at } = report;
  return html`<body>
    <a class="skip" href="#main">Skip to the content</a>
    <header>
      <p class="product">kubelet-gitops <span class="cluster">${source.of}</span></p>
      <p class="as-of">as of ${dateAndTime(at)}</p>
    </header>
    <main id="main" tabindex="-1">
      <h1>Audit of the kubelets of ${source.of}</h1>
      <p>${seenLine(report)}.</p>
      ${unseen.map(renderUnseen)} ${source.notes.map((note) => html`<p class="calm stands-in">${note}</p>`)}
      ${table(
        'Sections',
        [
          { heading: 'Section', cell: ({ id, title }) => html`<a href="#${id}">${title}</a>` },
          { heading: 'Result', cell: ({ result }) => resultBadge(result) },
          { heading: 'Summary', cell: ({ summary }) => summary },
        ],
        sections,
      )}
      ${since === undefined ? null : renderChanges(since)} ${sections.map(renderSection)}
    </main>
    <footer><p>kubelet-gitops ${VERSION}. Nothing was changed on any node.</p></footer>
  </body>`;
}

function renderUnseen({ reason, because, right, nodes }: UnseenNodes): Html {
  return html`<div class="banner ${reason === 'not-ready' ? 'busy' : 'bad'}">
    <p><b>${countOf(nodes.length, 'node')} not seen:</b> ${because}</p>
    ${right === undefined ? null : html`<p>Missing right: <code>${right}</code></p>`} ${nodeNames(nodes, nodes.length)}
  </div>`;
}

function renderChanges({ at, fresh, gone }: AuditChanges): Html {
  const listed = (caption: string, all: AuditChanges['fresh']): Html => {
    const { first, more } = split(all, MOST_CHANGES);
    if (all.length === 0) return html`<p>${caption}: nothing.</p>`;
    return html`${table(
      caption,
      [
        { heading: 'Check', cell: ({ title }) => title },
        { heading: 'Severity', cell: ({ severity }) => severityBadge(severity) },
        { heading: 'Nodes', cell: ({ nodes }) => nodeNames(nodes, nodes.length) },
      ],
      first,
    )}${more === 0 ? null : html`<p>And ${more} more.</p>`}`;
  };
  return html`<section aria-labelledby="since">
    <h2 id="since">Since ${dateAndTime(at)}</h2>
    ${listed('New', fresh)} ${listed('Gone', gone)}
  </section>`;
}

function renderSection({ id, title, summary, result, checks, groups, classes }: AuditSection): Html {
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title} ${resultBadge(result)}</h2>
    <p>${summary}</p>
    ${groups === undefined || groups.length === 0 ? null : groupsPicture(groups)}
    ${classes === undefined || classes.length === 0 ? null : roomPicture(classes)} ${checkList(checks)}
  </section>`;
}
