import { type MeasuredWindow, type MeasureName, type Measures, MEASURES } from '#shared/contract/api/measures.ts';

/** How one measure of a node changed. */
export interface MeasureChange {
  readonly before: number;
  readonly now: number;
}

export type MeasureChanges = Readonly<Partial<Record<MeasureName, MeasureChange>>>;

/** How the measures of one node changed. */
export interface MeasuredNode {
  readonly node: string;
  readonly changes: MeasureChanges;
}

/** The same, or why it cannot be said. */
export type NodeSample = MeasuredNode | { readonly node: string; readonly missing: string };

/** Shorter windows are chance. Agents tell them with heartbeats, of which the last one may be minutes ago. */
const ENOUGH_SECONDS = 240;

/** Of a node that runs the payload: the minutes since its kubelet was started with it, against those before. */
export function sampleOfCanary(node: string, measures: Measures | null | undefined, sha256: string): NodeSample {
  if (measures === undefined || measures === null) return { node, missing: `${node} reports no measures` };
  const { before, now } = measures;
  if (before === undefined || before.seconds < ENOUGH_SECONDS || before.sha256 === sha256) {
    return { node, missing: `${node} was not measured before the change` };
  }
  const since = now?.sha256 === sha256 ? now : undefined;
  if (since === undefined || since.seconds < ENOUGH_SECONDS) {
    return { node, missing: `${node} was measured for ${since?.seconds ?? 0} of ${ENOUGH_SECONDS} seconds` };
  }
  return { node, changes: changesIn(before, since) };
}

/** Of a node that waits, over the same time; null if it was restarted meanwhile or reports nothing. */
export function sampleOfWaiting(
  node: string,
  measures: Measures | null | undefined,
  mark: string,
): MeasuredNode | null {
  if (measures?.mark !== mark) return null;
  const { before, now } = measures;
  if (now === undefined || before === undefined || now.sha256 !== before.sha256) return null;
  if (Math.min(now.seconds, before.seconds) < ENOUGH_SECONDS) return null;
  return { node, changes: changesIn(before, now) };
}

/** Agents may say anything: what is not a finite amount was not measured. */
function changesIn({ values: then }: MeasuredWindow, { values }: MeasuredWindow): MeasureChanges {
  return Object.fromEntries(
    MEASURES.flatMap((name) => {
      const [before, now] = [then[name], values[name]];
      return isAmount(before) && isAmount(now) ? [[name, { before, now }] as const] : [];
    }),
  );
}

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
