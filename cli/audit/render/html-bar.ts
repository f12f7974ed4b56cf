import { type Html, html } from '#reconciler/reporting/status-page/html.ts';

/** A part of a bar: its length in the bar's unit, and the class that colours it. */
export interface BarPart {
  readonly length: number;
  readonly look: string;
}

/** Parts side by side. It says nothing that the words beside it do not. */
export function bar(parts: readonly BarPart[], whole: number): Html {
  let x = 0;
  const rects = parts.map(({ length, look }) => {
    const width = whole <= 0 ? 0 : Math.max(0, Math.min(100 - x, (length / whole) * 100));
    const rect = html`<rect class="${look}" x="${x.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="6"></rect>`;
    x += width;
    return rect;
  });
  return html`<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    ${rects}
  </svg>`;
}
