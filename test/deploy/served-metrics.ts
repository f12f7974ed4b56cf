import { NO_COUNTS } from '#agent/metrics/trial-counts.ts';
import { familiesOf } from '#agent/metrics/families.ts';
import { INITIAL_STATE } from '#agent/decide/state.ts';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { systemClock } from '#shared/runtime/clock.ts';

/** Names of all series that the two programs serve; a histogram has three. */
export async function servedNames(): Promise<ReadonlySet<string>> {
  const text = await createMetrics({ clock: systemClock, ofProcess: false }).text();
  const names = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  const families = familiesOf({ state: INITIAL_STATE, status: undefined, counts: NO_COUNTS, version: '1' });
  return new Set([...names, ...families.map(({ name }) => name)]);
}
