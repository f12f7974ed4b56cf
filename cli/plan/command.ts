import { loadRepo } from '#reconciler/repo/load-repo.ts';
import { type Command, type ExitCode, type Given, Mistake } from '../command.ts';
import type { InventoryNode } from '../inventory/node.ts';
import { connectNodes } from '../inventory/live-nodes.ts';
import { readInventory } from '../inventory/read-inventory.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS, wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { wrapFor } from '../wrap.ts';
import { openRepository } from '../revision/local-repository.ts';
import { readRevision, readWorkingCopy, type Revision } from '../revision/read-revision.ts';
import { isEmptyPlan, makePlan } from './make-plan.ts';
import type { Plan } from './plan.ts';
import { planAsMarkdown } from './render/markdown.ts';
import { planAsText } from './render/text.ts';

const FORMATS = ['text', 'markdown', 'json'] as const;

export const PLAN: Command = {
  name: 'plan',
  summary: 'shows what a change of the config repository does to pools and nodes, before it is merged',
  mostWords: 0,
  about: [
    'Compares two revisions by what they mean, not by their text: which pools get another config, field by field, what that\n' +
      'costs a node, which nodes are touched in which order, and what is left for pods. Changes nothing.',
    'Nodes come from the cluster (--kubeconfig or --context), or from a file where CI has no access to it:\n' +
      '  kubectl get nodes -o json > nodes.json            # nodes,pods -A: how many pods run on each as well',
  ],
  options: {
    base: { type: 'string', value: 'REV', about: 'what is in force (default origin/HEAD, or HEAD~1 without a remote)' },
    head: { type: 'string', value: 'REV', about: 'what is to come (default HEAD); "." for the working copy' },
    repo: { type: 'string', value: 'DIRECTORY', about: 'a checkout of the config repository (default .)' },
    cluster: {
      type: 'string',
      value: 'NAME',
      about: 'whose clusters/NAME.yaml counts (needed where there are several)',
    },
    inventory: { type: 'string', value: 'FILE', about: 'nodes, as kubectl get nodes -o json prints them' },
    kubeconfig: CLUSTER_OPTIONS.kubeconfig,
    context: CLUSTER_OPTIONS.context,
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people, for a pull request, or for programs' },
  },
  examples: [
    'kubelet-gitops plan --base origin/main --head HEAD --inventory nodes.json',
    'kubelet-gitops plan --base origin/main --head . --context prod',
    'kubelet-gitops plan --base "$BASE" --head "$HEAD" --inventory nodes.json -o markdown',
  ],
  run: runPlan,
};

async function runPlan(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const repository = await openRepository(given.text('repo') ?? '.');
  const [base, head] = await Promise.all([
    baseOf(repository, given.text('base')),
    given.text('head') === '.' ? readWorkingCopy(repository) : readRevision(repository, given.text('head') ?? 'HEAD'),
  ]);
  const cluster = clusterOf(given.text('cluster'), [base, head]);
  const load = ({ name, commit, files, findings }: Revision) => ({
    name: commit === null ? name : `${name} (${commit.oid.slice(0, 12)})`,
    repo: loadRepo(files, { cluster, gitFindings: findings }),
  });
  const plan = makePlan({ base: load(base), head: load(head), cluster, nodes: await nodesOf(given, io) });
  io.out.write(render(plan, format, io));
  return isEmptyPlan(plan) ? 0 : 1;
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

async function nodesOf(given: Given, io: Io): Promise<readonly InventoryNode[] | undefined> {
  const file = given.text('inventory');
  if (file !== undefined) return readInventory(file);
  if (given.text('kubeconfig') === undefined && given.text('context') === undefined) return undefined;
  return (await connectNodes(given, io)).list();
}

function render(plan: Plan, format: (typeof FORMATS)[number], io: Io): string {
  switch (format) {
    case 'text':
      return wrapFor(io.out)(planAsText(plan, paintFor(io.out, io.env)));
    case 'markdown':
      return planAsMarkdown(plan);
    case 'json':
      return `${JSON.stringify(plan, null, 2)}\n`;
  }
}
