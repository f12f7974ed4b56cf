import { type Html, html } from '#reconciler/reporting/status-page/html.ts';
import { table } from '#reconciler/reporting/status-page/render/html-table.ts';
import { badge, countOf } from '#reconciler/reporting/status-page/render/state-badges.ts';
import type { AuditCheck, CheckedNodes, CheckResult, Evidence, Severity } from '../audit-report.ts';
import { countWith, MOST_NAMES, originOf, RESULT_WORDS, split } from './words.ts';

type Word = Parameters<typeof badge>[0];

const RESULTS: Readonly<Record<CheckResult, Omit<Word, 'word'>>> = {
  fail: { tone: 'bad', sign: '✕' },
  'not-visible': { tone: 'quiet', sign: '?' },
  info: { tone: 'quiet', sign: 'i' },
  pass: { tone: 'good', sign: '✓' },
};

const FAULTS: Readonly<Record<Severity, Word>> = {
  high: { tone: 'bad', sign: '✕', word: 'high' },
  medium: { tone: 'busy', sign: '!', word: 'medium' },
  low: { tone: 'quiet', sign: '▾', word: 'low' },
};

export const resultBadge = (result: CheckResult): Html => badge({ ...RESULTS[result], word: RESULT_WORDS[result] });
export const severityBadge = (severity: Severity): Html => badge(FAULTS[severity]);

/** So many are told at once; more are folded. */
const MOST_AT_ONCE = 3;

/**
 * Names of nodes, folded where they are many.
 *
 * @param count how many there are, of which not all may be named
 */
export function nodeNames(nodes: readonly string[], count: number): Html {
  const { first } = split(nodes, MOST_NAMES);
  const names = first.map((name, index) => html`${index === 0 ? '' : ', '}<code>${name}</code>`);
  const all = html`${names}${count > first.length ? ` and ${count - first.length} more` : ''}`;
  if (count <= MOST_AT_ONCE) return html`<span class="names">${all}</span>`;
  return html`<details>
    <summary>${countOf(count, 'node')}</summary>
    <p class="names">${all}</p>
  </details>`;
}

/** What failed and what is worth knowing, each to unfold; the others as lists. */
export function checkList(checks: readonly AuditCheck[]): Html {
  const with_ = (result: CheckResult): readonly AuditCheck[] => checks.filter((check) => check.result === result);
  return html`${[...with_('fail'), ...with_('info')].map(renderCheck)} ${titles('not-visible', with_('not-visible'))}
  ${titles('pass', with_('pass'))}`;
}

function titles(result: CheckResult, checks: readonly AuditCheck[]): Html | null {
  if (checks.length === 0) return null;
  return html`<details class="check">
    <summary>${resultBadge(result)} ${countOf(checks.length, 'check')}</summary>
    <ul>
      ${checks.map(
        ({ id, title, because }) =>
          html`<li>${title} <code>${id}</code>${result === 'pass' || because === undefined ? '' : `: ${because}`}</li>`,
      )}
    </ul>
  </details>`;
}

function renderCheck(check: AuditCheck): Html {
  const { id, title, severity, result, because, groups, fix, references } = check;
  const sign = result === 'fail' ? severityBadge(severity) : resultBadge(result);
  const said = groups.filter((group) => group.result === result);
  const others = groups.filter((group) => group.result !== result);
  const rest = others.map((group) => `${RESULT_WORDS[group.result]} on ${countOf(group.count, 'node')}`);
  return html`<details class="check">
    <summary>${sign} <b>${title}</b> <span class="figure">${countOf(countWith(check, result), 'node')}</span></summary>
    ${because === undefined ? null : html`<p>${because}</p>`}
    ${table(
      html`<code>${id}</code>`,
      [
        { heading: 'Nodes', cell: ({ nodes, count }: CheckedNodes) => nodeNames(nodes, count) },
        { heading: 'Evidence', cell: ({ evidence }: CheckedNodes) => html`${evidence.map(renderEvidence)}` },
      ],
      said,
    )}
    ${rest.length === 0 ? null : html`<p>${rest.join(', ')}</p>`}
    ${
      fix === undefined
        ? null
        : html`<p><b>Fix</b>${fix.how === undefined ? '' : `: ${fix.how}`}</p>
            ${fix.yaml === undefined ? null : html`<pre tabindex="0"><code>${fix.yaml}</code></pre>`}`
    }
    ${references.length === 0 ? null : html`<p class="origin">See ${references.join(', ')}</p>`}
  </details>`;
}

function renderEvidence(evidence: Evidence): Html {
  const origin = originOf(evidence);
  return html`<div>
    <code>${evidence.field}: ${evidence.value}</code>
    ${origin === '' ? null : html`<span class="origin">(${origin})</span>`}
  </div>`;
}
