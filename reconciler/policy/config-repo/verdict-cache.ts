import { payloadSha256 } from '#shared/contract/config-map-hash.ts';
import type { ComplaintsOf } from '#shared/contract/kubelet-config/validate.ts';
import { firstComplaints } from './first-complaints.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';

/**
 * Judges each content once for each version and remembers the verdict: a pass asks for all pools, and nearly always for
 * what the pass before asked for.
 *
 * @param most  verdicts that are kept; the ones that were not asked for the longest go first
 * @param judge what judges a content that is not known
 */
export function createVerdictCache(most: number, judge: ComplaintsOf = firstComplaints): ComplaintsOf {
  const kept = new Map<string, ReturnType<ComplaintsOf>>();
  /** A pool's config stays the same object for as long as its commit is in force. */
  const hashes = new WeakMap<object, string>();

  return (value, version) => {
    const content = hashes.get(value) ?? payloadSha256(JSON.stringify(value, spelledOut));
    hashes.set(value, content);
    const key = `${version.minor} ${version.apply} ${content}`;
    const verdict = kept.get(key) ?? judge(value, version);
    setNewest(kept, key, verdict, most);
    return verdict;
  };
}

/** What JSON does not tell apart, or does not have. */
function spelledOut(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { '\0': `${value}n` };
  return typeof value === 'number' && !Number.isFinite(value) ? { '\0': String(value) } : value;
}
