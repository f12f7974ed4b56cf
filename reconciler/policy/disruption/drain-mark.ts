import { CORDONED_ANNOTATION, DRAIN_FAILED_ANNOTATION } from '#shared/contract/api/group.ts';
import { fromTimestamp, toTimestamp } from '#shared/runtime/clock.ts';
import type { DrainMark, FailedDrain } from '../fleet.ts';

/** `general-7k2mh5gf8d@2026-11-21T12:00:00Z`: what our annotations on Nodes say. */
export const formatMark = ({ config, at }: DrainMark): string => `${config}@${toTimestamp(at)}`;

/** undefined where a person wrote something else there: then it is not ours. */
export function parseMark(text: string): DrainMark | undefined {
  const split = text.lastIndexOf('@');
  const at = fromTimestamp(text.slice(split + 1));
  return split < 1 || at === undefined ? undefined : { config: text.slice(0, split), at };
}

/** The same with `#3` behind it for the third drain in a row that was given up. */
export const formatFailed = (failed: FailedDrain): string =>
  `${formatMark(failed)}${failed.times > 1 ? `#${failed.times}` : ''}`;

export function parseFailed(text: string): FailedDrain | undefined {
  const [, own = text, times = '1'] = /^(.*)#(\d{1,3})$/.exec(text) ?? [];
  const mark = parseMark(own);
  return mark && { ...mark, times: Math.max(1, Number(times)) };
}

/** The Node as it was read: written only if it is that very one still, and as it was. */
export interface ReadNode {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Keeps new pods off the node and says that it was us. */
export const cordonPatch = (node: ReadNode, mark: DrainMark): Readonly<Record<string, unknown>> => ({
  metadata: { ...node, annotations: { [CORDONED_ANNOTATION]: formatMark(mark) } },
  spec: { unschedulable: true },
});

export const uncordonPatch = (node: ReadNode, failed: FailedDrain | null): Readonly<Record<string, unknown>> => ({
  metadata: {
    ...node,
    annotations: {
      [CORDONED_ANNOTATION]: null,
      [DRAIN_FAILED_ANNOTATION]: failed === null ? null : formatFailed(failed),
    },
  },
  spec: { unschedulable: null },
});
