import { isDeepStrictEqual } from 'node:util';
import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { defaultOf, existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorName, minorNumber, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { valueAt, viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { examplePoolOf } from '#reconciler/policy/config-repo/example-machines.ts';
import { yamlOfJson } from '../yaml-value.ts';
import { UPSTREAM_ANNOUNCEMENTS } from './upstream-announcements.ts';
import { MEANING_CHANGES } from './meaning-changes.ts';

/** What one step to a newer minor version of the kubelet brings a pool. */
export interface UpgradeForesight {
  readonly pool: string;
  /** The version that it is judged for, and the one before. */
  readonly from: string;
  readonly to: string;
  /** What the newer one refuses or drops, and the older one does not. */
  readonly findings: readonly Finding[];
  /** Fields that the pool does not set and whose default changes. */
  readonly defaults: readonly DefaultChange[];
  /** Fields that the pool sets and that the newer one reads in another way. */
  readonly meanings: readonly DefaultChange[];
  /** What upstream has said of the newer one where that is not released, or not known here. */
  readonly announced: readonly Announced[];
}

interface Announced {
  readonly field: string;
  readonly what: string;
  readonly source: string;
}

interface DefaultChange {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Each step from the versions that a pool's nodes have to the newest that is known, and what is announced of the one after, or
 * to the one that is asked for; steps that bring nothing are left out.
 *
 * @param loaded  with computed values: as an example of a machine gets them
 * @param present minor versions in use now; the oldest of them is the start, whatever newer one is listed for the upgrade
 * @param last    number of the minor version to end with
 */
export const foreseeUpgrades = (
  loaded: ValidPool,
  present: readonly string[],
  last = NEWEST_MINOR + 1,
): readonly UpgradeForesight[] => foreseeConfig(examplePoolOf(loaded), present, last);

/** What of a pool a forecast rests on. */
interface JudgedConfig extends Pick<ValidPool, 'name' | 'value' | 'positionOf'> {
  readonly spec: Pick<ValidPool['spec'], 'apply' | 'tolerate'>;
}

/** The same of a config that no pool has computed values in. */
export function foreseeConfig(
  pool: JudgedConfig,
  present: readonly string[],
  last = NEWEST_MINOR + 1,
): readonly UpgradeForesight[] {
  const start = Math.min(...present.map((version) => minorNumber(version) ?? NEWEST_MINOR));
  const steps = Array.from(
    { length: Math.max(0, Math.min(last, NEWEST_MINOR + 1) - start) },
    (_, index) => start + index,
  );
  return steps
    .map((minor): UpgradeForesight => ({
      pool: pool.name,
      from: minorName(minor),
      to: minorName(minor + 1),
      ...(minor < NEWEST_MINOR
        ? {
            findings: newFindings(pool, minor),
            defaults: defaultChanges(pool.value, minor),
            meanings: meaningChanges(pool, minor),
            announced: [],
          }
        : { findings: [], defaults: [], meanings: [], announced: announcedFor(pool) }),
    }))
    .filter((step) => step.findings.length + step.defaults.length + step.meanings.length + step.announced.length > 0);
}

/** What changes without an edit, for people. */
export const upgradeLines = ({
  defaults,
  meanings,
}: Pick<UpgradeForesight, 'defaults' | 'meanings'>): readonly string[] => [
  ...defaults.map(
    ({ field, before, after }) =>
      `${field}: no layer sets it, and its default changes: ${yamlOfJson(before)} → ${yamlOfJson(after)}`,
  ),
  ...meanings.map(({ field, before, after }) => `${field} means something else: ${before}; from then on, ${after}`),
];

/** Of the first minor that the tables do not know. */
function announcedFor({ value, spec }: JudgedConfig): readonly Announced[] {
  const view = viewOf(value, NEWEST_MINOR, spec.apply);
  return UPSTREAM_ANNOUNCEMENTS.filter(({ since, isIn }) => since === NEWEST_MINOR + 1 && isIn(view)).map(
    ({ field, what, source }) => ({ field, what, source }),
  );
}

/** What was so before the step is no change: a gate that was on already did what it does. */
function meaningChanges({ value, spec }: JudgedConfig, minor: number): readonly DefaultChange[] {
  const view = viewOf(value, minor + 1, spec.apply);
  return MEANING_CHANGES.filter(({ since, isIn }) => since === minor + 1 && isIn(view)).map(
    ({ field, before, after }) => ({ field, before, after }),
  );
}

function newFindings(pool: JudgedConfig, minor: number): readonly Finding[] {
  const known = new Set(judge(pool, minor).map(keyOf));
  return judge(pool, minor + 1).filter((finding) => !known.has(keyOf(finding)));
}

function judge({ name, value, spec, positionOf }: JudgedConfig, minor: number): readonly Finding[] {
  const file = `pools/${name}/pool.yaml`;
  const options = { minor: minorName(minor), apply: spec.apply, tolerate: spec.tolerate ?? [], file };
  return validateKubeletConfig(value, positionOf === undefined ? options : { ...options, positionOf });
}

/** The version is not part of what was found. */
const keyOf = ({ versions: _versions, ...finding }: Finding): string => formatFinding(finding);

/** Fields whose default does nothing while this gate is off. */
const READ_WITH: Readonly<Record<string, string>> = { memoryThrottlingFactor: 'MemoryQoS' };

function defaultChanges(value: Readonly<Record<string, unknown>>, minor: number): readonly DefaultChange[] {
  return [...FIELDS].flatMap(([field, spec]) => {
    const isThere = existsIn(spec, minor) && existsIn(spec, minor + 1) && !field.includes('[]');
    const isSet = isThere && (valueAt(value, field) ?? undefined) !== undefined;
    const [before, after] = [defaultOf(spec, minor), defaultOf(spec, minor + 1)];
    const gate = READ_WITH[field];
    const isRead = gate === undefined || viewOf(value, minor, 'replace').gate(gate);
    if (!isThere || isSet || !isRead || isDeepStrictEqual(before, after)) return [];
    return [
      {
        field,
        before: before === undefined ? 'none' : abbreviateJson(before),
        after: after === undefined ? 'none' : abbreviateJson(after),
      },
    ];
  });
}
