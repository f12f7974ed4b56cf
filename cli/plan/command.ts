import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { ALLOW_OPTION, CLUSTER_OPTIONS, PATH_OPTION, wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { wrapFor } from '../wrap.ts';
import { counterpartsOf } from './counterparts.ts';
import { isEmptyPlan, makePlan } from './make-plan.ts';
import type { MergePlan } from './merge-plan.ts';
import { loadRevisions, nodesOf, RUNNING_OPTION, withRunning } from './load-revisions.ts';
import { type PlanFailure, FAILURES, failuresIn, USUAL_FAILURES } from './plan-summary.ts';
import { failureAsMarkdown, planAsMarkdown } from './render/markdown.ts';
import { planAsText } from './render/text.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { connectTo } from '../connect-cluster.ts';
import { openRepository } from '../revision/local-repository.ts';
import { readSource } from '../status/read-source.ts';

const FAIL_ON = [...FAILURES, 'nothing'] as const;
const FORMATS = ['text', 'markdown', 'json'] as const;

export const PLAN: Command = {
  name: 'plan',
  summary: 'shows what a change of the config repository does to pools and nodes, before it is merged',
  mostWords: 0,
  about: [
    'Compares what two revisions mean: which pools get another config, field by field, what that costs a node, which nodes\n' +
      'change in which order, and what is left for pods. Changes nothing. Exit code 3 (--fail-on): what is merged would be\n' +
      'refused, reach no node, or leave nodes between two pools.',
    'Nodes come from the cluster (--kubeconfig or --context), or from a file if CI has no access to the cluster:\n' +
      '  kubectl get nodes -o json > nodes.json            # nodes,pods -A: how many pods run on each as well',
  ],
  options: {
    base: {
      type: 'string',
      value: 'REV',
      about: 'the revision in force (default origin/HEAD; without a remote HEAD, or HEAD~1 where all is committed)',
    },
    head: { type: 'string', value: 'REV', about: 'the revision to merge (default ".", the files as you see them)' },
    repo: { type: 'string', value: 'DIRECTORY', about: 'a checkout of the config repository (default .)' },
    ...PATH_OPTION,
    cluster: {
      type: 'string',
      value: 'NAME',
      about: 'the cluster whose clusters/NAME.yaml counts (needed if there are several)',
    },
    inventory: { type: 'string', value: 'FILE', about: 'nodes, as kubectl get nodes -o json prints them' },
    ...RUNNING_OPTION,
    ...ALLOW_OPTION,
    kubeconfig: CLUSTER_OPTIONS.kubeconfig,
    context: CLUSTER_OPTIONS.context,
    'fail-on': {
      type: 'string',
      multiple: true,
      words: FAIL_ON,
      about: `what ends with exit code 3 (default ${USUAL_FAILURES.join(', ')}); can be given several times`,
    },
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
  const failOn = failuresOf(given);
  try {
    const plan = await planOf(given, io);
    io.out.write(render(plan, format, io));
    if ([...failuresIn(plan)].some((failure) => failOn.has(failure))) return 3;
    return isEmptyPlan(plan) ? 0 : 1;
  } catch (error) {
    // What a pipeline posts takes the place of the plan of an older push.
    if (format === 'markdown') io.out.write(failureAsMarkdown(given.text('cluster') ?? '', reasonOf(error)));
    throw error;
  }
}

async function planOf(given: Given, io: Io): Promise<MergePlan> {
  const { base, head, cluster, folder } = await loadRevisions(given, io);
  const nodes = await withRunning(await nodesOf(given, io), given, io);
  const inForce = await commitInForce(given, io, cluster);
  const plan = makePlan({ base, head, cluster, folder, nodes, inForce, now: systemClock.now() });
  const open = (): ReturnType<typeof openRepository> => openRepository(given.text('repo') ?? '.');
  // By the file in force: a commit cannot do without proof by saying so itself.
  const counterparts = await counterpartsOf(plan, base.repo.cluster.follows, open);
  return counterparts === undefined ? plan : { ...plan, counterparts };
}

function failuresOf(given: Given): ReadonlySet<PlanFailure> {
  const words = given.texts('fail-on');
  const known: readonly string[] = FAIL_ON;
  const unknown = words.find((word) => !known.includes(word));
  if (unknown !== undefined) throw new UsageError(`--fail-on ${unknown}: choose of ${FAIL_ON.join(', ')}`);
  return new Set(words.length === 0 ? USUAL_FAILURES : FAILURES.filter((failure) => words.includes(failure)));
}

function render(plan: MergePlan, format: (typeof FORMATS)[number], io: Io): string {
  switch (format) {
    case 'text':
      return wrapFor(io.out)(planAsText(plan, paintFor(io.out, io.env)));
    case 'markdown':
      return planAsMarkdown(plan);
    case 'json':
      return `${JSON.stringify(plan, null, 2)}\n`;
  }
}

/**
 * The commit that a cluster's reconciler has in force, where a cluster was named. A base that was refused, or that it has
 * not read yet, is another one: then more comes into force than the difference to the base.
 *
 * @returns undefined if unknown: no reconciler yet, one of another cluster's name, no right to read it;
 * or where the checkout does not have that commit: it is of another repository, or shallow
 */
async function commitInForce(given: Given, io: Io, cluster: string): Promise<string | undefined> {
  if (given.text('kubeconfig') === undefined && given.text('context') === undefined) return undefined;
  const kube = await connectTo(given, io);
  const state = await readSource(kube).catch(() => NO_STATE);
  if (state.commit === '' || state.cluster !== cluster) return undefined;
  const repository = await openRepository(given.text('repo') ?? '.');
  return repository.commit(state.commit).then(
    ({ oid }) => oid,
    () => undefined,
  );
}
