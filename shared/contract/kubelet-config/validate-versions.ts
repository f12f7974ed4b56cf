import type { Finding } from '../finding.ts';
import { minorName, minorNumber } from './minor.ts';
import { validateKubeletConfig, type ValidationOptions } from './validate.ts';

/** Like `ValidationOptions`, for several versions. */
type VersionlessOptions = Omit<ValidationOptions, 'minor'>;

/**
 * What the kubelets of several versions say against a config. A finding that holds for more than one of them comes once
 * and names them; one that holds for all names none.
 */
export function validateForVersions(
  value: unknown,
  minors: readonly string[],
  options: VersionlessOptions = {},
): readonly Finding[] {
  const distinct = [...new Set(minors)].sort(byNumber);
  const merged = new Map<string, Finding>();
  for (const minor of distinct) {
    for (const finding of validateKubeletConfig(value, { ...options, minor })) {
      const key = JSON.stringify({ ...finding, versions: [] });
      const versions = [...(merged.get(key)?.versions ?? []), minor];
      merged.set(key, { ...finding, versions });
    }
  }
  return [...merged.values()].map((finding) =>
    finding.versions?.length === distinct.length ? forAll(finding) : finding,
  );
}

/** Spread over the supported versions: what all of these refuse is wrong whatever the nodes run. */
const SAMPLE = [20, 24, 28, 32, 37].map(minorName);

/** What is wrong with a config for every kubelet. Weaker than naming the versions, for when none is known yet. */
export function validateForAnyVersion(value: unknown, options: VersionlessOptions = {}): readonly Finding[] {
  return validateForVersions(value, SAMPLE, options).filter(({ versions }) => versions === undefined);
}

function forAll(finding: Finding): Finding {
  const { versions: _all, ...rest } = finding;
  return rest;
}

const byNumber = (a: string, b: string): number => (minorNumber(a) ?? 0) - (minorNumber(b) ?? 0) || (a < b ? -1 : 1);
