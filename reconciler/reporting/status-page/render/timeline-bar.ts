import { type Html, html } from '../html.ts';
import type { TimelineSpan } from '../model.ts';
import { TIMELINE_END } from '../rollout-timeline.ts';
import type { PageTone } from './state-badges.ts';

/** Where something lies in the time of its rollout. It says nothing that the words beside it do not. */
export function timelineBar(span: TimelineSpan | null, tone: PageTone): Html {
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
    <rect class="${tone}" x="${x}" y="0" width="${width}" height="6"></rect>
  </svg>`;
}
