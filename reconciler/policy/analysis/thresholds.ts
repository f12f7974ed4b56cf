import type { MeasureName } from '#shared/contract/api/measures.ts';

/** From when on a change of one measure counts, however rare it is. */
export interface MeasureThreshold {
  /** In the unit of the measure. */
  readonly least: number;
  /** Of what the measure was before. */
  readonly percent: number;
}

interface Judged extends MeasureThreshold {
  /** A clause with the value in it, for people. */
  readonly say: (value: number) => string;
}

const count = (what: string) => (value: number) => `${tidy(value)} ${what} in 10 minutes`;
const seconds = (what: string) => (value: number) => `${tidy(value)} s ${what}`;

/** No more than the three digits that anybody compares. */
export const tidy = (value: number): string => String(Number(value.toPrecision(3)));

/** What counts of each measure, unless the pool says otherwise. */
export const THRESHOLDS: Readonly<Record<MeasureName, Judged>> = {
  evictions: { least: 2, percent: 100, say: count('evicted pods') },
  oomKills: { least: 2, percent: 100, say: count('times out of memory') },
  runtimeErrors: { least: 10, percent: 100, say: count('errors of the container runtime') },
  podStart: { least: 5, percent: 50, say: seconds('to start a pod') },
  relist: { least: 0.5, percent: 50, say: seconds('to list the pods that run') },
  cpu: { least: 0.25, percent: 50, say: (value) => `${tidy(value)} cores for the kubelet` },
  reserved: { least: 0.25, percent: 0, say: (value) => `${tidy(100 * value)}% of the memory kept from pods` },
};

/** How much more than before a measure may become. */
export const allowedOf = ({ least, percent }: MeasureThreshold, before: number): number =>
  Math.max(least, (percent * before) / 100);
