import { MAX_DEPTH } from '#shared/contract/kubelet-config/decode/json.ts';
import { isMap, type UnknownMap } from '#shared/runtime/maps.ts';

/**
 * The KubeletConfiguration in what a kubelet's `/configz` answers, which may be anything: what walks through it later would not end
 * well where it is nested without end.
 *
 * @returns a text says why there is none: a clause about the answer
 */
export function configInAnswer(answer: unknown): UnknownMap | string {
  const config = isMap(answer) ? answer['kubeletconfig'] : undefined;
  if (!isMap(config)) return 'holds no KubeletConfiguration: its "kubeletconfig" is not a map';
  let level: readonly unknown[] = [config];
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
    if (level.length === 0) return config;
    if (level.includes(Infinity) || level.includes(-Infinity)) return 'holds a number beyond all that JSON is read to';
  }
  return `has more than ${MAX_DEPTH} levels of nesting`;
}
