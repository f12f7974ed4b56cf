import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import type { Field } from '#shared/contract/kubelet-config/fields/field.ts';
import { existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorName } from '#shared/contract/kubelet-config/minor.ts';
import { parseGoDuration } from '#shared/contract/kubelet-config/syntax/go-duration.ts';
import { withoutUnknownFields } from '#shared/contract/kubelet-config/tolerance.ts';
import { type ConfigView, valueAt, viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import type { OracleAnswer } from './ask-oracle.ts';
import type { OwnVerdict } from './own-verdict.ts';

/**
 * Where a config that a kubelet takes comes to something else for us than for it: what it shows has to be what the file says, as the agent
 * compares them, and what the file leaves open has to be what our rules take for the default.
 */
export function effectiveDifferences(
  { config, findings }: OwnVerdict,
  { effective }: OracleAnswer,
  minor: number,
): readonly string[] {
  if (config === undefined || effective === undefined) return [];
  const view = viewOf(config, minor, 'replace');
  const known = withoutUnknownFields(config);
  // Said, and refused here: no node ever has them.
  const wrapped = findings.flatMap(({ code, field = '' }) => (code === 'wrapped-number' ? [field] : []));
  return [
    ...contradictions(known, effective, minorName(minor))
      .filter((phrase) => !wrapped.some((field) => phrase.startsWith(`${field}=`)))
      .map((phrase) => `the agent would see ${phrase}`),
    ...[...FIELDS]
      .filter(([path]) => !wrapped.includes(path))
      .flatMap(([path, field]) => differenceAt(path, field, view, effective)),
  ];
}

/** Set by the kubelet from its flags, or from the machine, whatever the file says. */
const NOT_FROM_THE_FILE: ReadonlySet<string> = new Set([
  'logging.options.json.splitStream',
  'logging.options.text.splitStream',
  // Relative paths are shown with the folder of the file.
  'podLogsDir',
  'resolvConf',
  'staticPodPath',
  'volumePluginDir',
  'tlsCertFile',
  'tlsPrivateKeyFile',
  'authentication.x509.clientCAFile',
]);

function differenceAt(
  path: string,
  field: Field,
  view: ConfigView,
  effective: Readonly<Record<string, unknown>>,
): readonly string[] {
  if (path.includes('[]') || NOT_FROM_THE_FILE.has(path) || !existsIn(field, view.minor)) return [];
  const read = READERS[field.kind];
  if (read === undefined) return [];
  const [ours, theirs] = [read(view, path), plain(valueAt(effective, path), field)];
  // Any negative number is no limit, and shown as -1.
  if (path === 'podPidsLimit' && Number(ours) < 0 && theirs === -1) return [];
  if (String(ours ?? EMPTY[field.kind]) === String(theirs ?? EMPTY[field.kind])) return [];
  return [`${path} is ${String(ours)} here, and ${String(theirs)} there`];
}

/** Fields of these kinds are read by rules, each as one value; lists are compared with the file alone. */
const READERS: Readonly<Partial<Record<Field['kind'], (view: ConfigView, path: string) => unknown>>> = {
  bool: (view, path) => view.flag(path),
  int32: (view, path) => view.number(path),
  uint32: (view, path) => view.number(path),
  int64: (view, path) => view.number(path),
  float: (view, path) => view.number(path),
  string: (view, path) => view.text(path),
  'string-map': (view, path) => sorted(Object.fromEntries(view.entries(path))),
  duration: (view, path) => view.duration(path),
  'duration-or-nanoseconds': (view, path) => view.duration(path),
};

/** What /configz leaves out. */
const EMPTY: Readonly<Partial<Record<Field['kind'], unknown>>> = {
  bool: false,
  int32: 0,
  uint32: 0,
  int64: 0,
  float: 0,
  string: '',
  'string-map': '[]',
  duration: 0,
  'duration-or-nanoseconds': 0,
};

const sorted = (map: object): string =>
  JSON.stringify(Object.entries(map).toSorted(([one], [other]) => (one < other ? -1 : 1)));

function plain(shown: unknown, field: Field): unknown {
  if (typeof shown === 'bigint') return Number(shown);
  if (field.kind === 'string-map') return sorted(shown ?? {});
  return field.kind.startsWith('duration') && typeof shown === 'string' ? parseGoDuration(shown) : shown;
}
