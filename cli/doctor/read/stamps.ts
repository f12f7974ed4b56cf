import type { KubeObject } from '#shared/contract/api/object.ts';
import { fromTimestamp } from '#shared/runtime/clock.ts';
import type { Stamp } from '../facts.ts';

interface Managed {
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/**
 * What a writer says that the time is, beside the time at which the API server says that it wrote it. Only of the last
 * writer of that part: anybody else may have written at another time.
 *
 * @param part `f:status`, `f:spec`
 */
export function stampOf(
  of: string,
  object: KubeObject,
  part: string,
  said: string | null | undefined,
): readonly Stamp[] {
  const at = fromTimestamp(said);
  if (at === undefined) return [];
  const managed = (object.metadata as { readonly managedFields?: readonly Managed[] }).managedFields ?? [];
  const times = managed.flatMap(({ time, fieldsV1 }) =>
    fieldsV1?.[part] === undefined ? [] : (fromTimestamp(time) ?? []),
  );
  return [{ of, said: at, stamped: times.length === 1 ? times[0] : undefined }];
}
