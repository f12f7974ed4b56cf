import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { minorNumber, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { type Kube, KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { isMap, valueIn } from '#shared/runtime/maps.ts';
import type { Given } from '../../command.ts';
import { connectWith } from '../../connect-cluster.ts';
import { askEach, type Asked } from '../../inventory/ask-each.ts';
import { configInAnswer } from '../../inventory/config-in-answer.ts';
import type { InventoryNode } from '../../inventory/inventory-node.ts';
import { nodesFrom, withoutImages } from '../../inventory/read-inventory.ts';
import type { Io } from '../../io.ts';
import { progressFor } from '../../progress-line.ts';
import { shareConfigs } from '../alike.ts';
import type { NodeFacts, SystemUse } from '../node-facts.ts';
import { type FoundNodes, groupUnseen, type Unseen } from './found-nodes.ts';
import {
  directKubelets,
  type KubeletAddress,
  type KubeletAnswer,
  type KubeletPath,
  type Kubelets,
  NotSeen,
  proxiedKubelets,
} from './kubelets.ts';
import { tooOld } from './nodes-from-files.ts';
import { systemUseOf } from './system-use.ts';

/** After so many refusals, and no answer, the others are not asked: they would refuse as well. */
const ENOUGH_REFUSALS = 32;
/** From this minor on the kubelet tells `configz` and `stats` from everything else (KubeletFineGrainedAuthz, beta). */
const FINE_GRAINED_MINOR = 33;

/** All nodes of a cluster, each of whose kubelets is asked what it runs and, for `room`, what the host uses. */
export async function nodesFromCluster(given: Given, io: Io, asksUse: boolean): Promise<FoundNodes> {
  const { kube, transport, api } = await connectWith(given, io);
  const { nodes, addresses, flags } = await listNodes(kube);
  const kubelets = given.flag('direct')
    ? directKubelets(addresses, await api.credentials.current(), systemClock)
    : proxiedKubelets(transport);
  const supported = nodes.filter((node) => !isOld(node));
  // Those that are not Ready may hold everybody else up.
  const names = supported.toSorted((one, other) => Number(other.ready) - Number(one.ready)).map(({ name }) => name);
  const share = shareConfigs();
  // Of each answer only what is wanted is kept: those of 5,000 kubelets are some hundred MiB.
  const configs = await askAll(kubelets, names, 'configz', io, (answer) => runningIn(answer, share));
  const answering = names.filter((name) => 'answer' in (configs.get(name) ?? {}));
  const uses = asksUse
    ? await askAll(kubelets, answering, 'stats/summary', io, ({ body }) => systemUseOf(body))
    : new Map<string, never>();
  const facts: NodeFacts[] = [];
  const unseen: Unseen[] = nodes.filter(isOld).map(tooOld);
  for (const node of supported) {
    const config = saidBy(configs.get(node.name));
    if (config instanceof NotSeen) unseen.push(unseenOf(node, config, kubelets));
    else facts.push(factsOf(node, config, answerOf(uses.get(node.name)), flags.get(node.name)));
  }
  const isSeen = new Set(facts.map(({ name }) => name));
  return {
    source: {
      from: kubelets.from,
      of: api.server,
      notes: notesOf(kubelets, asksUse && facts.every(({ use }) => use === undefined)),
    },
    nodes: facts,
    unseen: groupUnseen(unseen),
    of: nodes.length,
    strangers: nodes.filter(({ name }) => !isSeen.has(name)).map(({ labels }) => labels),
  };
}

const isOld = ({ kubeletVersion }: InventoryNode): boolean => (minorNumber(kubeletVersion) ?? Infinity) < OLDEST_MINOR;

/** What is kept of the list: the rest is let go of before kubelets are asked. */
async function listNodes(kube: Kube): Promise<{
  readonly nodes: readonly InventoryNode[];
  readonly addresses: ReadonlyMap<string, KubeletAddress>;
  readonly flags: ReadonlyMap<string, NodeFacts['removedFlags']>;
}> {
  const [listed, agents] = await Promise.all([
    kube.list({ resource: NODES }, undefined, withoutImages),
    // A cluster without us has none, and the user may not be allowed to read them.
    kube.list<KubeletNode>({ resource: KUBELET_NODES }).catch(() => ({ items: [] })),
  ]);
  return {
    nodes: nodesFrom(listed.items),
    addresses: addressesOf(listed.items),
    flags: new Map(agents.items.map(({ metadata, status }) => [metadata.name, status?.kubeletFlags] as const)),
  };
}

async function askAll<T>(
  kubelets: Kubelets,
  names: readonly string[],
  path: KubeletPath,
  { err }: Io,
  read: (answer: KubeletAnswer) => T,
): Promise<ReadonlyMap<string, Asked<T>>> {
  const progress = progressFor(err, () => performance.now());
  let [answers, refusals] = [0, 0];
  const asked = await askEach(
    names,
    kubelets.mostAtOnce,
    async (name) => read(await kubelets.ask(name, path)),
    (said, count) => {
      if ('answer' in said) answers += 1;
      else if (said.error instanceof NotSeen && said.error.reason === 'forbidden') refusals += 1;
      progress.say(`asked ${count} of ${names.length} kubelets for ${path}, ${answers} answered`);
      return answers === 0 && refusals >= ENOUGH_REFUSALS;
    },
  );
  progress.end();
  return asked;
}

const answerOf = <T>(asked: Asked<T> | undefined): T | undefined =>
  asked !== undefined && 'answer' in asked ? asked.answer : undefined;

type Running = Pick<NodeFacts, 'running' | 'alike' | 'certificateEnds'>;

function runningIn({ body, ...certificate }: KubeletAnswer, share: ReturnType<typeof shareConfigs>): Running | NotSeen {
  const config = configInAnswer(body);
  return typeof config === 'string'
    ? new NotSeen('unreadable', `its /configz ${config}`)
    : { ...share(config), ...certificate };
}

/** Of a kubelet that was not asked, others were refused. */
function saidBy(asked: Asked<Running | NotSeen> | undefined): Running | NotSeen {
  if (asked === undefined) return new NotSeen('forbidden', 'not asked, after the first kubelets refused');
  if ('answer' in asked) return asked.answer;
  return asked.error instanceof NotSeen ? asked.error : new NotSeen('no-answer', 'the kubelet could not be asked');
}

function factsOf(
  node: InventoryNode,
  running: Running,
  use: SystemUse | undefined,
  removedFlags: readonly string[] | undefined,
): NodeFacts {
  const { name, labels, kubeletVersion, osImage } = node;
  return {
    name,
    labels,
    kubeletVersion,
    osImage,
    node,
    origin: 'configz',
    ...running,
    ...(use === undefined ? {} : { use }),
    ...(removedFlags === undefined ? {} : { removedFlags }),
  };
}

/** The right that the question needs, which is not to say that anybody should have it. */
function unseenOf(
  { name, ready, kubeletVersion }: InventoryNode,
  { reason, message }: NotSeen,
  { from }: Kubelets,
): Unseen {
  if (!ready && reason !== 'forbidden') return { node: name, reason: 'not-ready', because: `NotReady: ${message}` };
  if (reason !== 'forbidden') return { node: name, reason, because: message };
  const isFine = from === 'direct' && (minorNumber(kubeletVersion) ?? 0) >= FINE_GRAINED_MINOR;
  return { node: name, reason, because: message, right: isFine ? 'get nodes/configz' : 'get nodes/proxy' };
}

const notesOf = ({ from }: Kubelets, lacksUse: boolean): readonly string[] => [
  from === 'cluster'
    ? 'Kubelets were asked through the API server. That takes the right get nodes/proxy, which can also run commands in every pod of every node: ' +
      'do not grant it for an audit. With --direct, kubelets from 1.33 on only ask for get nodes/configz and nodes/stats.'
    : 'Kubelets were asked on their own port. From 1.33 on that takes the rights get nodes/configz and nodes/stats; older kubelets ask for get ' +
      'nodes/proxy, which can also run commands in every pod: do not grant it for an audit.',
  ...(lacksUse ? ['No kubelet said what its host uses (/stats/summary), so Room has no measurements.'] : []),
];

/** Where Nodes say that their kubelets listen: the first internal address. */
function addressesOf(nodes: readonly KubeObject[]): ReadonlyMap<string, KubeletAddress> {
  return new Map(
    nodes.flatMap((node): readonly (readonly [string, KubeletAddress])[] => {
      const addresses = valueIn(node, ['status', 'addresses']);
      const of = (type: string): unknown =>
        (Array.isArray(addresses) ? addresses.filter(isMap) : []).find((each) => each['type'] === type)?.['address'];
      const host = of('InternalIP') ?? of('ExternalIP');
      const port = valueIn(node, ['status', 'daemonEndpoints', 'kubeletEndpoint', 'Port']);
      return typeof host === 'string' && typeof port === 'number' ? [[node.metadata.name, { host, port }]] : [];
    }),
  );
}
