import { complaintsOf, type ComplaintsOf } from '#shared/contract/kubelet-config/validate.ts';

/** Whoever has so many of a kind to fix looks again afterwards. */
const MOST_OF_A_KIND = 100;

/**
 * `complaintsOf` without what comes after the first hundred of one code and severity. No code loses its only error: which codes are
 * tolerated is decided afterwards.
 */
export const firstComplaints: ComplaintsOf = (value, version) => {
  const counts = new Map<string, number>();
  return complaintsOf(value, version).filter(({ code, severity }) => {
    const kind = `${code} ${severity}`;
    const count = counts.get(kind) ?? 0;
    counts.set(kind, count + 1);
    return count < MOST_OF_A_KIND;
  });
};
