import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import { judgePool } from '#reconciler/repo/judge-pool.ts';
import { loadRepo } from '#reconciler/repo/load-repo.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Io } from '../io.ts';
import { type Paint, paintFor } from '../paint.ts';
import type { ValidateOptions } from '../usage.ts';
import { type DirectoryTree, readDirectory } from './read-directory.ts';

/** `kubelet-gitops validate`. @returns 0 when nothing was found, 1 otherwise; throws where there is no repository */
export async function runValidate(options: ValidateOptions, io: Io): Promise<0 | 1> {
  const tree = await readDirectory(options.directory);
  const paths = [...tree.files.keys(), ...tree.findings.map(({ file }) => file ?? '')];
  if (!paths.some((path) => /^(?:pools|base|clusters)\//.test(path))) {
    throw new GitopsError(
      'NO_CONFIG_REPO',
      `${options.directory} holds no config repository: there are no files in pools/, base/ or clusters/`,
    );
  }
  const findings = findingsOf(tree, options);
  const paint = paintFor(io.out, io.env);
  for (const finding of findings) io.out.write(`${show(finding, paint)}\n`);
  const pools = new Set([...tree.files.keys()].flatMap((path) => /^pools\/([^/]+)\//.exec(path)?.[1] ?? []));
  io.out.write(
    findings.length === 0 ? `${pools.size} pools, nothing found\n` : `${pools.size} pools, ${findings.length} found\n`,
  );
  return findings.length === 0 ? 0 : 1;
}

/** Everything that the reconciler of any of the clusters would say, once. */
function findingsOf(
  { files, findings }: DirectoryTree,
  { cluster, kubeletVersions }: ValidateOptions,
): readonly Finding[] {
  const present = [...files.keys()].flatMap((path) => /^clusters\/([^/]+)\.yaml$/.exec(path)?.[1] ?? []);
  const clusters = cluster === undefined ? (present.length === 0 ? [''] : present) : [cluster];
  const found = clusters.flatMap((name) => {
    const repo = loadRepo(files, { cluster: name, gitFindings: findings });
    const ofPools = repo.pools.flatMap((pool) => [
      ...pool.findings,
      ...(pool.status === 'valid' ? judgePool(pool, kubeletVersions) : []),
    ]);
    return [...repo.findings, ...ofPools];
  });
  const once = new Map(found.map((finding) => [formatFinding(finding), finding]));
  return [...once.values()].sort(byPlace);
}

function byPlace(a: Finding, b: Finding): number {
  const file = (a.file ?? '').localeCompare(b.file ?? '');
  return file === 0 ? (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0) : file;
}

function show(finding: Finding, paint: Paint): string {
  const line = formatFinding(finding);
  return finding.severity === 'error' ? paint('bad', line) : paint('busy', line);
}
