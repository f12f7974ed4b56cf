import type { MeasureName } from '#shared/contract/api/measures.ts';

/** From when on a change of one measure counts, however rare it is. */
export interface MeasureThreshold {
  /** In the unit of the measure. */
  readonly least: number;
  /** Of what the measure was before. */
  readonly percent: number;
}

interface Judged extends MeasureThreshold {
  /** The value with its unit, for people. */
  readonly amount: (value: number) => string;
  /** What stands behind it: `3 evicted pods in 10 minutes, before 0`. */
  readonly what: string;
}

/** No more than the three digits that anybody compares. */
export const formatThreeDigits = (value: number): string => String(Number(value.toPrecision(3)));

const seconds = (value: number): string => `${formatThreeDigits(value)} s`;
const share = (value: number): string => `${formatThreeDigits(100 * value)}%`;

/** What counts of each measure, unless the pool says otherwise. */
export const THRESHOLDS: Readonly<Record<MeasureName, Judged>> = {
  evictions: { least: 2, percent: 100, amount: formatThreeDigits, what: 'evicted pods in 10 minutes' },
  oomKills: { least: 2, percent: 100, amount: formatThreeDigits, what: 'times out of memory in 10 minutes' },
  runtimeErrors: {
    least: 10,
    percent: 100,
    amount: formatThreeDigits,
    what: 'errors of the container runtime in 10 minutes',
  },
  podStart: { least: 5, percent: 50, amount: seconds, what: 'to start a pod' },
  relist: { least: 0.5, percent: 50, amount: seconds, what: 'to list the running pods' },
  cpu: { least: 0.25, percent: 50, amount: formatThreeDigits, what: 'cores for the kubelet' },
  reserved: { least: 0.25, percent: 0, amount: share, what: 'of the memory kept from pods' },
};

/** How much more than before a measure may become. */
export const allowedChange = ({ least, percent }: MeasureThreshold, before: number): number =>
  Math.max(least, (percent * before) / 100);
