import { loadRepo } from '#reconciler/repo/load-repo.ts';
import type { LoadedRepo } from '#reconciler/repo/loaded.ts';
import { type Given, Mistake } from '../command.ts';
import { connectNodes } from '../inventory/live-nodes.ts';
import type { InventoryNode } from '../inventory/node.ts';
import { readInventory } from '../inventory/read-inventory.ts';
import type { Io } from '../io.ts';
import { openRepository } from '../revision/local-repository.ts';
import { readRevision, readWorkingCopy, type Revision } from '../revision/read-revision.ts';

/** A revision with what its files mean. */
export interface LoadedRevision {
  readonly name: string;
  readonly repo: LoadedRepo;
}

/** The two revisions that a question about a change names, and the cluster that it is about. */
export interface LoadedRevisions {
  readonly base: LoadedRevision;
  readonly head: LoadedRevision;
  readonly cluster: string;
}

/** Reads --repo, --base, --head and --cluster. @throws Mistake, and errors of git where a revision cannot be read */
export async function loadRevisions(given: Given): Promise<LoadedRevisions> {
  const repository = await openRepository(given.text('repo') ?? '.');
  const [base, head] = await Promise.all([
    baseOf(repository, given.text('base')),
    given.text('head') === '.' ? readWorkingCopy(repository) : readRevision(repository, given.text('head') ?? 'HEAD'),
  ]);
  const cluster = clusterOf(given.text('cluster'), [base, head]);
  const load = ({ name, commit, files, findings }: Revision): LoadedRevision => ({
    name: commit === null ? name : `${name} (${commit.oid.slice(0, 12)})`,
    repo: loadRepo(files, { cluster, gitFindings: findings }),
  });
  return { base: load(base), head: load(head), cluster };
}

async function baseOf(repository: Parameters<typeof readRevision>[0], written: string | undefined): Promise<Revision> {
  if (written !== undefined) return readRevision(repository, written);
  return readRevision(repository, 'refs/remotes/origin/HEAD').catch(() => readRevision(repository, 'HEAD~1'));
}

/** The one cluster that the repository has a file for, unless another is named. */
function clusterOf(written: string | undefined, revisions: readonly Revision[]): string {
  if (written !== undefined) return written;
  const names = new Set(
    revisions.flatMap(({ files }) =>
      [...files.keys()].flatMap((path) => /^clusters\/([^/]+)\.yaml$/.exec(path)?.[1] ?? []),
    ),
  );
  if (names.size > 1) throw new Mistake(`choose a cluster with --cluster: ${[...names].sort().join(', ')}`);
  return [...names][0] ?? 'default';
}

/** Nodes from a file, or from the cluster; undefined where neither was named. */
export async function nodesOf(given: Given, io: Io): Promise<readonly InventoryNode[] | undefined> {
  const file = given.text('inventory');
  if (file !== undefined) return readInventory(file);
  if (given.text('kubeconfig') === undefined && given.text('context') === undefined) return undefined;
  return (await connectNodes(given, io)).list();
}
