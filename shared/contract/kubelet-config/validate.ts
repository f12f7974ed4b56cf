import type { ApplyMode } from '../api/kubelet-node.ts';
import type { Finding } from '../finding.ts';
import { formatPath, type Path, type PositionOf } from './position.ts';
import { existsIn } from './fields/fields.ts';
import { checkKnownBad } from './known-bad.ts';
import { minorNumber, minorName, NEWEST_MINOR, OLDEST_MINOR } from './minor.ts';
import { AT_START_RULES } from './rules/at-start.ts';
import { EVICTION_RULES } from './rules/eviction.ts';
import { judgeFeatureGates } from './rules/feature-gates.ts';
import { judgeFormat } from './rules/formats.ts';
import { IMAGE_RULES } from './rules/images.ts';
import { LOGGING_RULES } from './rules/logging.ts';
import { NODE_RULES } from './rules/node-settings.ts';
import { judgeOverlay } from './rules/overlay.ts';
import { RESERVATION_RULES } from './rules/reservations.ts';
import { MANAGER_RULES } from './rules/resource-managers.ts';
import type { Complaint, Rule } from './rules/rule.ts';
import { SERVING_RULES } from './rules/serving.ts';
import { STATIC_MEMORY_RULES } from './rules/static-memory.ts';
import { judgeStructure, judgeVersions } from './rules/structure.ts';
import { wrapNumbers } from './rules/wrapped-numbers.ts';
import { SYSCTL_RULES } from './rules/sysctls.ts';
import { WITHOUT_EFFECT_RULES } from './rules/without-effect.ts';
import { tolerated } from './tolerance.ts';
import { type ConfigView, viewOf } from './config-view.ts';
import { writtenFields } from './written-fields.ts';
import { isMap } from '../../runtime/maps.ts';

/** Every rule that looks at more than one field, or at more than the table says of it. */
const RULES: readonly Rule[] = [
  ...SERVING_RULES,
  ...IMAGE_RULES,
  ...RESERVATION_RULES,
  ...MANAGER_RULES,
  ...STATIC_MEMORY_RULES,
  ...EVICTION_RULES,
  ...NODE_RULES,
  ...LOGGING_RULES,
  ...SYSCTL_RULES,
  ...AT_START_RULES,
  ...WITHOUT_EFFECT_RULES,
];

export interface ValidationOptions {
  /** The kubelet's version: `1.34`, `v1.34.2`. What only some releases of a minor get wrong needs the latter. Newer ones than the table has are judged as the newest that it has. */
  readonly minor: string;
  /**
   * `replace` (the default): the config is all that the kubelet gets. `overlay`: it goes over a config that is not known
   * here, so that null takes a field back and what rests on unset fields is only a warning.
   */
  readonly apply?: ApplyMode;
  /** Codes that are only warnings, as far as they are tolerable. */
  readonly tolerate?: readonly string[];
  readonly positionOf?: PositionOf;
  /** For findings without a position. */
  readonly file?: string;
  /** What judges the content. Default: `complaintsOf`; a caller who remembers verdicts has its own. */
  readonly complaintsOf?: ComplaintsOf;
}

/**
 * What one version says against a config. It rests on the config's content, its version and how it is applied, and on
 * nothing else: not on the file, nor on what is tolerated.
 */
export type ComplaintsOf = (
  value: Readonly<Record<string, unknown>>,
  version: Required<Pick<ValidationOptions, 'minor' | 'apply'>>,
) => readonly Complaint[];

/**
 * What a kubelet of one version says against a config before it serves pods, as far as the config alone decides it:
 * everything that keeps it from starting, and what it would silently drop. What depends on the node (swap, cgroups,
 * CPUs, files) is the agent's to look at.
 *
 * @returns all findings at once, each with the version that it holds for; none means that the kubelet starts with it
 */
export function validateKubeletConfig(value: unknown, options: ValidationOptions): readonly Finding[] {
  const number = minorNumber(options.minor);
  if (number === undefined || number < OLDEST_MINOR) return [unsupported(options)];
  if (!isMap(value)) return [asFinding({ code: 'wrong-type', at: [], message: 'the config has to be a map' }, options)];
  const { minor, apply = 'replace', complaintsOf: judgeContent = complaintsOf } = options;
  return judgeContent(value, { minor, apply }).map((complaint) => asFinding(complaint, options));
}

/** All that takes time in a verdict. @param version of a kubelet that is supported */
export const complaintsOf: ComplaintsOf = (value, { minor, apply }) => {
  const number = minorNumber(minor) ?? NEWEST_MINOR;
  const { config, complaints: wrapped } = wrapNumbers(apply === 'overlay' ? withoutNulls(value) : value, number);
  const view = viewOf(config, Math.min(number, NEWEST_MINOR), apply);
  const complaints = [
    ...unknownVersion(number),
    ...wrapped,
    ...(apply === 'overlay' ? judgeOverlay(value) : []),
    ...judge(config, view),
    ...checkKnownBad(view, minor),
  ];
  return complaints.map((complaint) => softened(complaint, view));
};

/** The tables have an end, and their silence is no verdict. */
function unknownVersion(minor: number): readonly Complaint[] {
  if (minor <= NEWEST_MINOR) return [];
  const newest = minorName(NEWEST_MINOR);
  return [
    {
      code: 'unknown-version',
      severity: 'warning',
      at: [],
      message: `kubelet ${minorName(minor)} is newer than ${newest}, the newest that this release knows, and is judged as ${newest}`,
      suggestion: 'upgrade kubelet-gitops before the nodes',
    },
  ];
}

function* judge(config: Readonly<Record<string, unknown>>, view: ConfigView): Generator<Complaint> {
  yield* judgeStructure(config, view.minor);
  yield* judgeVersions(config, view.minor);
  for (const written of writtenFields(config, ({ field }) => existsIn(field, view.minor))) {
    if (written.value !== null && existsIn(written.field, view.minor)) yield* judgeFormat(written, view);
  }
  const gates = config['featureGates'];
  if (isMap(gates)) yield* judgeFeatureGates(gates, view);
  for (const rule of RULES) yield* rule(view);
}

/** What an overlay leaves to the node's own config may be different there from what was assumed here. */
function softened(complaint: Complaint, view: ConfigView): Complaint {
  const isKnown = view.apply === 'replace' || (complaint.restsOn ?? []).every((path) => view.isSet(path));
  if (isKnown) return complaint;
  return {
    ...complaint,
    severity: 'warning',
    message: `${complaint.message} (unless the node's own config sees to it)`,
  };
}

function asFinding(complaint: Complaint, { minor, positionOf, file, tolerate = [] }: ValidationOptions): Finding {
  const { code, severity = 'error', at, message, suggestion } = complaint;
  const number = minorNumber(minor) ?? 0;
  const finding: Finding = {
    code,
    severity,
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(file === undefined ? {} : { file }),
    ...positionOf?.(at),
    ...fieldOf(at),
    versions: [minorName(number)],
  };
  return tolerated(finding, tolerate, number);
}

const fieldOf = (path: Path): { readonly field?: string } => (path.length === 0 ? {} : { field: formatPath(path) });

function unsupported({ minor, file }: ValidationOptions): Finding {
  const message = `kubelets of version ${minor} are not supported: the oldest is ${minorName(OLDEST_MINOR)}`;
  return { code: 'unsupported-version', severity: 'error', message, ...(file === undefined ? {} : { file }) };
}

/** An overlay without what it takes back. Lists are left as they are: they replace whole. */
function withoutNulls(map: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const kept = Object.entries(map).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, isMap(item) ? withoutNulls(item) : item]));
}
