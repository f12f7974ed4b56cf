import { formatFinding } from '#shared/contract/finding.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';

/** What the reconciler would refuse in files that were made: a kubelet may run what must not be committed. Pure. */
export function importErrors(files: ReadonlyMap<string, string>, cluster: string): readonly string[] {
  const read = [...files].map(([path, text]) => [path, { path, oid: path, bytes: Buffer.from(text) }] as const);
  const { pools, findings } = loadRepo(new Map(read), { cluster });
  const all = [...findings, ...pools.flatMap((pool) => pool.findings)];
  return [...new Set(all.filter(({ severity }) => severity === 'error').map(formatFinding))].sort();
}
