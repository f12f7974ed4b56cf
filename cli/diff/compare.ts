import type { ConfigIdentity } from '#shared/contract/api/config-identity.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { redactValue } from '../support-bundle/redact-value.ts';

export type Config = Readonly<Record<string, unknown>>;

/** A config that is compared; `value` null is the node's own. */
export interface Side {
  /** Of its ConfigMap, or `local`. */
  readonly name: string;
  readonly sha256: string | null;
  readonly apply: ConfigIdentity['apply'];
  readonly value: Config | null;
}

/** One field that is not the same everywhere; values as JSON, null where it is not set. `runs` is absent where that was not asked. */
export interface DiffRow {
  readonly field: string;
  readonly settled: string | null;
  readonly wanted: string | null;
  readonly runs?: string | null;
}

/**
 * The fields in which two configs differ, and those in which the running one contradicts what is wanted. Pure.
 *
 * @param running what the kubelet runs, as `/configz` or a config has it; undefined where that is unknown
 * @param version of that kubelet; '' if unknown
 */
export function compareConfigs(
  settled: Side,
  wanted: Side,
  running: Config | undefined,
  version = '',
): readonly DiffRow[] {
  const [before, after] = [leavesOf(settled.value ?? {}), leavesOf(wanted.value ?? {})];
  const way = settled.apply === wanted.apply ? [] : [{ field: 'apply', settled: settled.apply, wanted: wanted.apply }];
  const fields = [...new Set([...before.keys(), ...after.keys()])].sort();
  const rows = fields.flatMap((field): readonly DiffRow[] => {
    const [old, next] = [before.get(field), after.get(field)];
    const row = { field, settled: textOf(field, old?.value), wanted: textOf(field, next?.value) };
    const isSame = JSON.stringify(old?.value) === JSON.stringify(next?.value);
    const runs = running === undefined ? undefined : runningAt(field, [next, old], running, version);
    const isAsWanted = runs === undefined || next === undefined || runs === row.wanted;
    if (isSame && isAsWanted) return [];
    return [runs === undefined ? row : { ...row, runs }];
  });
  return [...way, ...rows];
}

interface Leaf {
  readonly keys: readonly string[];
  readonly value: unknown;
}

/** Maps by key; lists whole, as a kubelet replaces them. */
function leavesOf(config: Config): ReadonlyMap<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const visit = (value: unknown, keys: readonly string[]): void => {
    if (isMap(value) && Object.keys(value).length > 0) {
      for (const [key, item] of Object.entries(value)) visit(item, [...keys, key]);
    } else leaves.set(keys.join('.'), { keys, value });
  };
  for (const [key, value] of Object.entries(config)) if (key !== 'apiVersion' && key !== 'kind') visit(value, [key]);
  return leaves;
}

/** As one of the configs writes it, where it means that: a kubelet shows `10m` as `10m0s`. */
function runningAt(
  field: string,
  known: readonly (Leaf | undefined)[],
  running: Config,
  version: string,
): string | null {
  const alone = ({ keys, value }: Leaf): Config =>
    keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Config;
  const meant = known.find((leaf) => leaf !== undefined && contradictions(alone(leaf), running, version).length === 0);
  if (meant !== undefined) return textOf(field, meant.value);
  const keys = known.find((leaf) => leaf !== undefined)?.keys ?? [];
  return textOf(
    field,
    keys.reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), running),
  );
}

/** Without what looks like a credential. */
const textOf = (field: string, value: unknown): string | null =>
  value === undefined ? null : abbreviateJson(redactValue(value, field.split('.', 1)[0]));
