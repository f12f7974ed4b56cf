import { isMap } from '../runtime/maps.ts';

/** `metav1.Status`, as far as it is read: what the API server says instead of an object. */
export interface Status {
  readonly code: number;
  /** CamelCase word: `NotFound`, `AlreadyExists`, `Conflict`, `Expired` … */
  readonly reason: string;
  readonly message: string;
  /** The object that the server speaks of; '' for none. */
  readonly name: string;
  readonly retryAfterSeconds: number | undefined;
  /** What the server says more about each reason. */
  readonly causes: readonly string[];
  /** A PodDisruptionBudget refuses an eviction: it is not the server that has too much to do. */
  readonly refusedByBudget: boolean;
}

/** Reads a decoded body or a watch's ERROR object; undefined for anything but a Status. */
export function readStatus(body: unknown): Status | undefined {
  if (!isMap(body) || body['kind'] !== 'Status') return undefined;
  const details = isMap(body['details']) ? body['details'] : {};
  const seconds = details['retryAfterSeconds'];
  return {
    code: typeof body['code'] === 'number' ? body['code'] : 0,
    reason: textOf(body['reason']),
    message: textOf(body['message']),
    name: textOf(details['name']),
    causes: causesIn(details['causes']),
    refusedByBudget: recordsIn(details['causes']).some(({ reason }) => reason === 'DisruptionBudget'),
    retryAfterSeconds: typeof seconds === 'number' && seconds > 0 ? seconds : undefined,
  };
}

const causesIn = (causes: unknown): readonly string[] =>
  recordsIn(causes)
    .map(({ message }) => textOf(message))
    .filter((text) => text !== '');

const recordsIn = (list: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(list) ? list.filter(isMap) : [];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
