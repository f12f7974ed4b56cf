import type { Finding } from '#shared/contract/finding.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import type { OracleAnswer } from './ask-oracle.ts';
import type { OwnVerdict } from './own-verdict.ts';

/**
 * Where we and the kubelet hold different fields against a file on whose verdict we agree. The kubelet names fields in sentences, and stops
 * at the first stage that refuses something; what is behind that stage cannot be compared.
 */
export function fieldDifferences(ours: OwnVerdict, theirs: OracleAnswer): readonly string[] {
  const missed = [...theirs.faults, ...theirs.start].filter((fault) => !isFound(fault, ours));
  return [
    ...missed.map((fault) => `refused for something else here, and there for: ${fault}`),
    ...unsaid(ours, theirs).map(({ field, message }) => `refused here only: ${field}: ${message}`),
    ...dropped(ours, theirs),
  ];
}

/** What sentences of the kubelet are about where they do not name the field. */
const ABOUT: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /feature gate|is enabled, but depends on|feature is locked|cannot set feature|features? that (?:are|is) disabled/i,
    ['featureGates'],
  ],
  [/taint/i, ['registerWithTaints']],
  [/pod logs path/, ['podLogsDir']],
  [/NUMA node|reserved memory|limit type/, ['reservedMemory']],
  [/sysctl/, ['defaultPodSysctls', 'allowedUnsafeSysctls']],
  [/show-hidden-metrics|hidden metrics|showHiddenMetrics/i, ['showHiddenMetricsForVersion']],
  [/parallelImagePulls/i, ['maxParallelImagePulls', 'serializeImagePulls']],
  [/userNamespaces/i, ['userNamespaces']],
  [/unknown scope/, ['topologyManagerScope']],
  [/unsupported log format/, ['logging']],
  [/NodeLogQuery/, ['enableSystemLogQuery']],
];

const TOP: readonly string[] = [...FIELDS.keys()].filter((path) => !path.includes('.'));

/** Names of root fields that occur in a sentence, as the file or Go writes them. */
function fieldsIn(sentence: string): ReadonlySet<string> {
  const said = sentence.replace(/ in '.*/s, '');
  const words = new Set((said.match(/[A-Za-z][A-Za-z0-9]*/g) ?? []).map((word) => word.toLowerCase()));
  const named = TOP.filter((field) => words.has(field.toLowerCase()));
  const meant = ABOUT.filter(([pattern]) => pattern.test(said)).flatMap(([, fields]) => fields);
  return new Set([...named, ...meant]);
}

const rootOf = ({ field = '' }: Finding): string => /^[^.[]*/.exec(field)?.[0] ?? '';

/** A fault of the text itself has no field, and there one sentence is as good as another. */
function isFound(fault: string, { refusing, late }: OwnVerdict): boolean {
  const fields = fieldsIn(fault);
  const found = [...refusing, ...late];
  return fields.size === 0 || found.some((finding) => rootOf(finding) === '' || fields.has(rootOf(finding)));
}

/** What only we refuse, where the kubelet went through all of its stages: its start ends with the first fault. */
function unsaid({ refusing, late }: OwnVerdict, { verdict, faults, start }: OracleAnswer): readonly Finding[] {
  if (verdict !== 'reject:validate' || start.length > 0) return [];
  const fields = new Set(faults.flatMap((fault) => [...fieldsIn(fault)]));
  return [...refusing, ...late].filter((finding) => !fields.has(rootOf(finding)));
}

/** Names that the kubelet drops. Old ones stop at the first fault, and name that. */
function dropped({ dropping }: OwnVerdict, { verdict, strict }: OracleAnswer): readonly string[] {
  if (verdict === 'reject:load' || verdict === 'reject:panic') return [];
  const stops = strict.startsWith('strict decoder error for');
  const first = /found unknown field: (.*?), error found in #/s.exec(strict)?.[1];
  const theirs = stops
    ? [first ?? []].flat()
    : [...strict.matchAll(/unknown field "((?:[^"\\]|\\.)*)"/g)].map(([, path = '']) =>
        lastName(JSON.parse(`"${path}"`)),
      );
  const ours = dropping
    .filter(({ code }) => code === 'unknown-field' || code === 'wrong-case')
    .map(({ field = '' }) => lastName(unquoted(field)));
  return [
    ...theirs.filter((name) => !ours.includes(name)).map((name) => `dropped there only: ${name}`),
    ...ours.filter((name) => !stops && !theirs.includes(name)).map((name) => `dropped here only: ${name}`),
  ];
}

/** `a.b` and `["a.b"]` both end with `b`: names with dots in them are nobody's. */
const lastName = (path: unknown): string => String(path).split('.').at(-1) ?? '';

const unquoted = (field: string): string =>
  field.replace(/\["((?:[^"\\]|\\.)*)"\]$/, (_, name: string) => `.${String(JSON.parse(`"${name}"`))}`);
