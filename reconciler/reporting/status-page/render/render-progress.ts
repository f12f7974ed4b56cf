import { formatRoughly } from '#shared/runtime/rough-duration.ts';
import type { RemainingTime } from '../../../policy/forecast/remaining-time.ts';
import { type Html, html } from '../html.ts';
import type { PoolModel } from '../model.ts';
import { countOf } from './state-badges.ts';

/** How far a rollout has come and how long it will still take, as a bar and in the same words; nothing once it is over. */
export function renderProgress({ name, counts, rollout }: PoolModel): Html | null {
  if (rollout === null || rollout.remaining === null) return null;
  const { nodes, updated } = counts;
  const [first, left] = [`${updated} of ${countOf(nodes, 'node')} up to date`, describeRemaining(rollout.remaining)];
  const width = nodes === 0 ? 0 : (updated / nodes) * 100;
  return html`<div class="progress">
    <p><b class="figure">${first}.</b> <span>${left}</span></p>
    <div
      role="progressbar"
      aria-label="Rollout of ${name}"
      aria-valuemin="0"
      aria-valuemax="${nodes}"
      aria-valuenow="${updated}"
      aria-valuetext="${first}. ${left}"
    >
      <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <rect
          class="${rollout.remaining.is === 'unknown' ? 'busy' : 'good'}"
          x="0"
          y="0"
          width="${width.toFixed(2)}"
          height="6"
        ></rect>
      </svg>
    </div>
  </div>`;
}

/** `About 20 min left (18 min to 26 min), if all goes well.` */
export function describeRemaining(remaining: RemainingTime): string {
  switch (remaining.is) {
    case 'time': {
      const [usual, quick, slow] = [remaining.expectedMs, remaining.quickMs, remaining.slowMs].map(formatRoughly);
      const spread = quick === slow ? '' : ` (${quick} to ${slow})`;
      if (remaining.until === undefined) return `About ${usual} left${spread}, if all goes well.`;
      return `About ${usual}${spread} until it waits for a person after wave ${remaining.until}, if all goes well.`;
    }
    case 'soak':
      return `All have proven it; the last ones soak for ${formatRoughly(remaining.ms)}.`;
    case 'unknown':
      return `Time left is not known: ${remaining.because}.`;
  }
}
