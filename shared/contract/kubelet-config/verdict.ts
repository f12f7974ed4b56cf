import type { Finding } from '../finding.ts';

/**
 * What one version of the kubelet makes of a file. `warn`: it starts, but reads something otherwise than a person does.
 * `reject`: it does not start with it, or drops a part of it without more than a line in its log;
 * `warn` also where that is tolerated.
 */
export type ConfigVerdict = 'accept' | 'warn' | 'reject';

/** What it means to the kubelet that something was found. */
export type Effect =
  /** It does not start. */
  | 'refuses'
  /** It starts without what was written there. */
  | 'drops'
  /** It starts, and takes it for something that others and people do not. */
  | 'misreads'
  /** It has no objection: the finding is our own prudence. */
  | 'none';

/** Every code that does not keep the kubelet from starting. */
const MILDER: Readonly<Record<string, Effect>> = {
  'unknown-field': 'drops',
  'wrong-case': 'drops',
  'duplicate-key': 'drops',
  'merge-override': 'drops',
  'too-deep': 'drops',
  'json-not-yaml': 'drops',
  'flag-shadows': 'drops',
  'config-not-read': 'drops',
  'yaml-ambiguous': 'misreads',
  'several-documents': 'misreads',
  'yaml-tag': 'misreads',
  'wrapped-number': 'misreads',
  'odd-encoding': 'misreads',
  'file-too-big': 'none',
  'many-aliases': 'none',
  'known-bad': 'none',
  // Of our own: no kubelet asks what was meant.
  'fractional-bytes': 'none',
  // It takes the file, and would start where flags reserve what is not there.
  'no-reserved-cpu': 'none',
  'memory-not-equal': 'none',
};

/** What it means to the kubelet that this was found. */
export function effectOf({ code, severity }: Finding): Effect {
  const effect = MILDER[code] ?? 'refuses';
  if (severity === 'error') return effect;
  // A tolerated field is dropped all the same; other warnings are ours alone.
  return effect === 'drops' ? 'misreads' : 'none';
}

/**
 * The verdict of one version, by what was found.
 *
 * @param minor    `1.34`
 * @param readable false where the kubelet could make nothing of the file at all
 */
export function configVerdict(findings: readonly Finding[], minor: string, readable = true): ConfigVerdict {
  if (!readable) return 'reject';
  const effects = new Set(
    findings.filter(({ versions }) => versions === undefined || versions.includes(minor)).map(effectOf),
  );
  if (effects.has('refuses') || effects.has('drops')) return 'reject';
  return effects.has('misreads') ? 'warn' : 'accept';
}
