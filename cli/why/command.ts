import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { choosePool } from '#reconciler/policy/pool-selection/choose-pool.ts';
import type { Commit } from '#reconciler/policy/commit-snapshot.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { readInventory } from '../inventory/read-inventory.ts';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { connectTo } from '../connect-cluster.ts';
import { readSource } from '../status/read-source.ts';
import { readFleet, nodeReasonsOf } from '../status/node-reasons.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { connectNodes } from '../inventory/live-nodes.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS, PATH_OPTION, wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { chooseCluster } from '../choose-cluster.ts';
import { classFor, requirePoolFor } from '../class-of-node.ts';
import { wrapFor } from '../wrap.ts';
import { openConfig, requirePools } from '../revision/config-folder.ts';
import { readNamed, revisionLabel } from '../revision/read-revision.ts';
import { introducingCommit } from './blame.ts';
import { dotted, explainField, type Explanation, isField } from './explain-field.ts';
import { type AgentStatus, explanationAsText } from './render.ts';
import { type RevisionState, revisionState } from './revision-state.ts';

const FORMATS = ['text', 'json'] as const;

export const WHY: Command = {
  name: 'why',
  summary: 'explains where a field’s value on a node comes from: file, line, commit, default or flag',
  takes: 'NODE FIELD',
  mostWords: 2,
  about: [
    'Needs a checkout of the config repository, and the node from the cluster or from an inventory. With access to the\n' +
      'cluster it also asks the kubelet what it runs (/configz through the API server: needs get on nodes/proxy).',
  ],
  options: {
    repo: { type: 'string', value: 'DIRECTORY', about: 'a checkout of the config repository (default .)' },
    ...PATH_OPTION,
    revision: {
      type: 'string',
      value: 'REV',
      about: 'the revision to look at (default ".", the files as you see them)',
    },
    cluster: {
      type: 'string',
      value: 'NAME',
      about: 'the cluster whose clusters/NAME.yaml counts (needed if there are several)',
    },
    inventory: {
      type: 'string',
      value: 'FILE',
      about: 'nodes, as kubectl get nodes -o json prints them; then no cluster is asked',
    },
    kubeconfig: CLUSTER_OPTIONS.kubeconfig,
    context: CLUSTER_OPTIONS.context,
    namespace: CLUSTER_OPTIONS.namespace,
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: [
    'kubelet-gitops why worker-1 maxPods',
    'kubelet-gitops why worker-1 evictionHard.memory.available --inventory nodes.json',
  ],
  run: runWhy,
};

async function runWhy(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const [name, written] = given.words;
  if (name === undefined || written === undefined)
    throw new UsageError('why needs a node and a field: why worker-1 maxPods');
  const field = dotted(written);
  if (!isField(field)) {
    const meant = didYouMean(field, [...FIELDS.keys()]);
    throw new UsageError(
      `no kubelet up to ${minorName(NEWEST_MINOR)} knows ${field}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    );
  }
  const config = await openConfig(given, io.err);
  const { repository, folder } = config;
  const revision = await readNamed(repository, given.text('revision'), folder);
  await requirePools(config, [revision]);
  const cluster = chooseCluster(given, revision.files.keys(), io.err, folder);
  const repo = loadRepo(revision.files, { cluster, gitFindings: revision.findings, folder });
  const { node, running, unseen, told } = await nodeOf(name, given, io);
  const valid = repo.pools.filter((pool): pool is ValidPool => pool.status === 'valid');
  const choice = choosePool(
    node,
    valid.map(({ name: pool, spec }) => ({ name: pool, priority: spec.priority, nodeSelector: spec.nodeSelector })),
  );
  const loaded = choice.choice === 'pool' ? (valid.find((each) => each.name === choice.pool) ?? null) : null;
  const pool = loaded === null ? null : requirePoolFor(loaded, node);
  const machine = loaded?.template === undefined ? {} : { machine: classFor(loaded, node).class.name };
  const { files } = revision;
  const explanation = explainField({ field, pool, files, ...machine, kubeletVersion: node.kubeletVersion, running });
  const commit = await commitOf(explanation);
  const whole = {
    revision: revisionLabel(revision),
    unseen,
    node: name,
    kubeletVersion: node.kubeletVersion,
    ...explanation,
    commit: commit ?? null,
    isCommitted: commit !== null,
    choice,
    agent: agentSays(told),
    standing: await standing(),
    invalidPools: repo.pools.filter(({ status }) => status === 'invalid').map((each) => each.name),
  };
  io.out.write(
    format === 'json'
      ? `${JSON.stringify(whole, (key, value: unknown) => (key === 'raw' ? undefined : value), 2)}\n`
      : wrapFor(io.out)(explanationAsText(whole, paintFor(io.out, io.env))),
  );
  return explanation.shadowed ? 1 : 0;

  /** Asks the planner only where nothing nearer explains it. */
  async function standing(): Promise<RevisionState> {
    const question = {
      wanted: pool,
      revision: revision.commit?.oid ?? '',
      source: null,
      node: told,
      reason: undefined,
    };
    if (revisionState(question).standing !== 'not-yet') return revisionState(question);
    const kube = await connectTo(given, io);
    const namespace = given.text('namespace') ?? DEFAULT_NAMESPACE;
    const source = await readSource(kube).catch(() => null);
    const fleet = await readFleet(kube, namespace).catch(() => null);
    const reasons = fleet === null || source === null ? [] : nodeReasonsOf(fleet, source, namespace, systemClock.now());
    return revisionState({ ...question, source, reason: reasons.find((each) => each.node === name) });
  }

  /** Null for what is in no commit yet; undefined where that is not known, or no layer says anything. */
  async function commitOf({ layers }: Explanation): Promise<Commit | null | undefined> {
    const last = layers.at(-1);
    if (last === undefined) return undefined;
    const { commit: at } = revision;
    if (at === null && revision.uncommitted === undefined) return null;
    const start = await repository.commit(at?.oid ?? 'HEAD');
    const now = [...files.values()].find(({ path }) => path === last.file)?.bytes;
    return introducingCommit(repository, start, last.file, now, (bytes) => {
      const file = bytes === undefined ? undefined : { path: last.file, oid: '', bytes };
      if (file === undefined || pool === null) return undefined;
      const spec = { ...pool.spec, layers: [last.file] };
      const said = explainField({
        field,
        pool: { ...pool, spec },
        files: new Map([[last.file, file]]),
        kubeletVersion: '',
        running: undefined,
      });
      return said.layers[0]?.value;
    });
  }
}

interface Seen {
  readonly node: InventoryNode;
  readonly running: Readonly<Record<string, unknown>> | undefined;
  readonly unseen: string | null;
  readonly told: KubeletNode | null;
}

async function nodeOf(name: string, given: Given, io: Io): Promise<Seen> {
  const file = given.text('inventory');
  if (file === undefined) {
    const nodes = await connectNodes(given, io);
    const node = await nodes.get(name);
    const told = await nodes.kubeletNode(name);
    return nodes.configz(name).then(
      (running) => ({ node, running, unseen: null, told }),
      (error: unknown) => ({ node, running: undefined, unseen: reasonOf(error), told }),
    );
  }
  const node = (await readInventory(file)).find((each) => each.name === name);
  if (node === undefined) throw new GitopsError('NODE_UNKNOWN', `there is no node ${name} in ${file}`);
  return { node, running: undefined, unseen: null, told: null };
}

function agentSays(node: KubeletNode | null): AgentStatus | null {
  const status = node?.status;
  if (status?.phase === undefined) return null;
  const { phase, assigned, active, error } = status;
  const said = error === undefined || error === null ? null : `${error.reason}: ${error.message}`;
  return { phase, assigned: assigned?.name ?? 'nothing', active: active?.name ?? 'unknown', error: said };
}
