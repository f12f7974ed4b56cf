import type { NodeNumber } from '../../policy/analysis/query-answer.ts';
import { errorIn, lacksData, parseAnswer } from './prometheus.ts';
import { isMap } from '#shared/runtime/maps.ts';

/** Why an answer holds no numbers, in a clause. */
export interface NoNumbers {
  readonly missing: string;
}

/** One sample of an instant vector; the scalar has no labels. */
interface QuerySample {
  readonly labels: Readonly<Record<string, unknown>>;
  readonly value: number;
}

/**
 * One number for each node that the answer of an instant query names.
 *
 * @param label whose value is the name of the node, perhaps with `:PORT` behind it, as in `instance`
 */
export function readNodeNumbers(
  label: string,
  status: number,
  text: string,
): ReadonlyMap<string, NodeNumber> | NoNumbers {
  const samples = samplesOf(status, text);
  if ('missing' in samples) return samples;
  const numbers = new Map<string, NodeNumber>();
  for (const { labels, value } of samples) {
    const named = labels[label];
    if (typeof named !== 'string' || named === '') continue;
    const node = named.replace(/:\d{1,5}$/, '');
    numbers.set(node, numbers.has(node) ? 'several' : Number.isFinite(value) && value >= 0 ? value : 'none');
  }
  if (numbers.size === 0 && samples.length > 0) return { missing: `none of its series has the label ${label}` };
  return numbers;
}

/** The one number that the answer of an instant query is. */
export function readOneNumber(status: number, text: string): { readonly value: number } | NoNumbers {
  const samples = samplesOf(status, text);
  if ('missing' in samples) return samples;
  const [sample] = samples;
  if (sample === undefined) return { missing: 'the answer is empty' };
  if (samples.length > 1) return { missing: `the answer has ${samples.length} series instead of one` };
  return Number.isFinite(sample.value) ? { value: sample.value } : { missing: 'the answer is not a finite number' };
}

/** What is no number in it stays: as NaN. A part of the series proves nothing. */
function samplesOf(status: number, text: string): readonly QuerySample[] | NoNumbers {
  const body = parseAnswer(text);
  const why = errorIn(body, status);
  if (body === undefined || why !== undefined) return { missing: why ?? '' };
  if (lacksData(body)) return { missing: 'it answered in part only' };
  const { data } = body;
  if (!isMap(data) || !Array.isArray(data['result'])) return { missing: 'the answer has no result in it' };
  const result = data['result'] as readonly unknown[];
  if (data['resultType'] === 'scalar') return [{ labels: {}, value: numberIn(result) }];
  if (data['resultType'] !== 'vector') return { missing: 'the answer is neither a number nor a list of them' };
  return result.map((each) => ({
    labels: isMap(each) && isMap(each['metric']) ? each['metric'] : {},
    value: isMap(each) ? numberIn(each['value']) : Number.NaN,
  }));
}

/** Of `[1700000000.781, "1.5"]`; Prometheus also writes `NaN`, `+Inf` and `-Inf`. */
function numberIn(pair: unknown): number {
  const text: unknown = Array.isArray(pair) ? pair[1] : undefined;
  return typeof text === 'string' && text.trim() !== '' ? Number(text) : Number.NaN;
}
