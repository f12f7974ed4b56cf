import { abbreviateJson as showValue } from './decode/abbreviate-json.ts';
import { gateCost, type GateMaps, type PodFeature } from './feature-gates/gate-cost.ts';
import type { ChangeCost, Field } from './fields/field.ts';
import { RAISED_NOTES, RISK_NOTES } from './fields/risk-notes.ts';
import { defaultOf, FIELDS, TYPE_FIELDS } from './fields/fields.ts';
import { NEWEST_MINOR } from './minor.ts';
import { isMap, mapOf } from '../../runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

/** One field whose meaning changes. */
export interface FieldChange {
  /** Dotted: `evictionHard.memory.available`, `featureGates.X`. */
  readonly path: string;
  /** As it would be written; undefined if not set. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The kubelet's default; undefined if that depends on the node, and without one. */
  readonly default: string | undefined;
  readonly cost: ChangeCost;
  /** Of a gate: features that go off with it, where only pods that need one ask for the drain. */
  readonly features?: readonly PodFeature[];
  /** Why it deserves a second look; undefined where there is nothing to say. */
  readonly risk: string | undefined;
}

/** From the cheapest to the dearest. */
const COSTS: readonly ChangeCost[] = ['restart', 'state-file:cpu', 'state-file:memory', 'drain', 'reboot', 'never'];

/** The dearest of them; undefined where nothing changes. */
export function mostDisruptiveCost(changes: readonly Pick<FieldChange, 'cost'>[]): ChangeCost | undefined {
  const highest = Math.max(...changes.map(({ cost }) => COSTS.indexOf(cost)));
  return changes.length === 0 ? undefined : COSTS[highest];
}

/**
 * What differs between two payloads, field by field, whatever the text looked like. Lists count as one value, as the
 * kubelet replaces them whole.
 *
 * @param before null where there was none
 * @param minor of the kubelet, 34; if unknown, the greatest possible cost counts
 */
export function diffPayloads(before: Config | null, after: Config | null, minor?: number): readonly FieldChange[] {
  const then = leavesOf(before ?? {});
  const now = leavesOf(after ?? {});
  const gates: GateMaps = { before: mapOf(before?.['featureGates']), after: mapOf(after?.['featureGates']), minor };
  const paths = [...new Set([...then.keys(), ...now.keys()])].sort();
  return paths.flatMap((path) => {
    const [old, current] = [then.get(path), now.get(path)];
    return old === current ? [] : [changeAt(path, old, current, gates)];
  });
}

function changeAt(path: string, before: string | undefined, after: string | undefined, gates: GateMaps): FieldChange {
  const [field, own] = fieldAt(path);
  const usual = own && field !== undefined ? defaultOf(field, NEWEST_MINOR) : undefined;
  const note = field?.note;
  const isRaised = Number(after ?? usual) > Number(before ?? usual);
  return {
    path,
    before,
    after,
    default: usual === undefined || isMap(usual) ? undefined : showValue(usual),
    ...(path.startsWith(GATE)
      ? gateCost(path.slice(GATE.length), after, gates)
      : { cost: costOf(field, before, after, gates.minor) }),
    risk: note === undefined ? undefined : ((isRaised ? RAISED_NOTES[note] : undefined) ?? RISK_NOTES[note].means),
  };
}

const GATE = 'featureGates.';

/** Nothing more than the restart where that kubelet reads the field and does nothing with it. */
function costOf(
  field: Field | undefined,
  before: string | undefined,
  after: string | undefined,
  minor: number | undefined,
): ChangeCost {
  if (field === undefined || (field.ignoredFrom ?? Infinity) <= (minor ?? 0)) return 'restart';
  const isTaken = field.costWithout !== undefined && itemsIn(before).some((item) => !itemsIn(after).includes(item));
  return (isTaken ? field.costWithout : field.cost) ?? 'restart';
}

/** The table's field for a path, and whether it is the field itself and no key in its map. */
function fieldAt(path: string): readonly [ReturnType<typeof FIELDS.get>, boolean] {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const field = FIELDS.get(path.slice(0, end));
    if (field !== undefined) return [field, end === path.length];
  }
  return [undefined, false];
}

/** Every payload has them, and no other ones. */
/** The items of a list, as text; none of anything else. */
function itemsIn(text = 'null'): readonly string[] {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.map(String) : [];
}

const TYPES: ReadonlySet<string> = new Set(TYPE_FIELDS);

function leavesOf(config: Config): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  const visit = (map: Config, prefix: string): void => {
    for (const [key, value] of Object.entries(map)) {
      const path = prefix === '' ? key : `${prefix}.${key}`;
      if (TYPES.has(path)) continue;
      if (isMap(value) && Object.keys(value).length > 0) visit(value, path);
      else leaves.set(path, textOf(value));
    }
  };
  visit(config, '');
  return leaves;
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? Number(item) : item)) ?? 'null';
