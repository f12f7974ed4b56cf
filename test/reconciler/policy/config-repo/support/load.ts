import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { RepoFile } from '#reconciler/policy/commit-snapshot.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedPool, LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { Finding } from '#shared/contract/finding.ts';

export const POOL =
  'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nspec:\n  nodeSelector: {matchLabels: {pool: x}}\n';
export const KUBELET = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
export const CLUSTER = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec:\n';

export type Tree = Readonly<Record<string, string>>;

export function filesOf(tree: Tree): ReadonlyMap<string, RepoFile> {
  return new Map(
    Object.entries(tree).map(([path, text]) => {
      const bytes = Buffer.from(text, 'utf8');
      return [path, { path, bytes, oid: createHash('sha1').update(bytes).digest('hex') }] as const;
    }),
  );
}

export const load = (tree: Tree, gitFindings: readonly Finding[] = []): LoadedRepo =>
  loadRepo(filesOf(tree), { cluster: 'prod', gitFindings });

/** Findings as their codes and places. */
export const brief = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ code, file, line, column }) => `${code} ${file}${line === undefined ? '' : `:${line}:${column}`}`);

export function pool(repo: LoadedRepo, name: string): LoadedPool {
  const found = repo.pools.find((candidate) => candidate.name === name);
  assert.ok(found !== undefined, `there is no pool ${name}`);
  return found;
}

/** The pool of this name, in which nothing is wrong. */
export function valid(repo: LoadedRepo, name: string): ValidPool {
  const found = pool(repo, name);
  assert.deepEqual(brief(found.findings), []);
  assert.ok(found.status === 'valid');
  return found;
}
