import { CONFIG_SOURCE_SELECTOR } from '#reconciler/cluster/object-views.ts';
import {
  EVENTS_NAMESPACE,
  OLDER_EVENTS_NAMESPACE,
  REPORTING_CONTROLLER,
} from '#reconciler/reporting/events/event-object.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import {
  CONFIG_MAPS,
  EVENTS,
  type Kube,
  KUBELET_NODES,
  KUBELET_POOLS,
  KUBELET_SOURCES,
  LEASES,
  NODES,
  PODS,
  type Resource,
} from '#shared/kube/kube.ts';
import type { Transport } from '#shared/kube/transport.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { CRD_FIELDS } from '../doctor/installation.generated.ts';
import {
  CRDS,
  DAEMON_SETS,
  DEPLOYMENTS,
  OUR_AGENTS,
  OUR_PODS,
  RECONCILER,
  SERVICES,
  WEBHOOK_SERVICE,
} from '../doctor/read/installation-resources.ts';
import type { ProgressLine } from '../progress-line.ts';
import { redact } from '#shared/runtime/redact.ts';
import {
  type BundleTrim,
  ofConfigSource,
  ofCrd,
  ofEvent,
  ofLease,
  ofNode,
  ofOurs,
  ofPod,
  ofService,
  ofSettings,
  ofWorkload,
} from './trim-objects.ts';

export interface Collection {
  /** Path in the bundle → text, without credentials. */
  readonly files: ReadonlyMap<string, string>;
  /** What could not be read, and why. */
  readonly gaps: readonly string[];
}

export interface CollectOptions {
  readonly kube: Kube;
  readonly transport: Transport;
  readonly namespace: string;
  /** Of each log, the last so many. */
  readonly logLines: number;
  readonly progress: ProgressLine;
}

/** Objects that a bundle has, by file. Secrets are never asked for. */
type Reading = readonly [file: string, read: () => Promise<readonly KubeObject[]>, trim: BundleTrim];

/** Reads the objects and logs of an installation. Never rejects: what cannot be read is a gap. */
export async function collect(options: CollectOptions): Promise<Collection> {
  const files = new Map<string, string>();
  const gaps: string[] = [];
  let pods: readonly KubeObject[] = [];
  for (const [file, read, trim] of readings(options)) {
    options.progress.say(`reading ${file}`);
    try {
      const objects = await read();
      if (file === 'pods') pods = objects;
      files.set(`objects/${file}.json`, `${JSON.stringify(objects.map(trim), null, 2)}\n`);
    } catch (error) {
      gaps.push(redact(`objects/${file}.json: ${reasonOf(error)}`));
    }
  }
  await collectLogs(pods, options, files, gaps);
  return { files, gaps };
}

function readings({ kube, namespace }: CollectOptions): readonly Reading[] {
  const all =
    (resource: Resource, more: { namespace?: string; labelSelector?: string } = {}) =>
    async () =>
      (await kube.list({ resource, ...more })).items;
  const named =
    (resource: Resource, names: readonly string[], place: { namespace?: string } = {}) =>
    async () =>
      (await Promise.all(names.map((name) => kube.get({ resource, ...place }, name)))).filter((one) => one !== null);
  const events = (where: string) => async () =>
    (await kube.list({ resource: EVENTS, namespace: where })).items.filter(
      (event) => (event as { readonly reportingController?: string }).reportingController === REPORTING_CONTROLLER,
    );
  const here = { namespace };
  return [
    ['kubeletpools', all(KUBELET_POOLS), ofOurs],
    ['kubeletsources', all(KUBELET_SOURCES), ofOurs],
    ['kubeletnodes', all(KUBELET_NODES), ofOurs],
    ['nodes', all(NODES), ofNode],
    ['config-sources', all(CONFIG_MAPS, { ...here, labelSelector: CONFIG_SOURCE_SELECTOR }), ofConfigSource],
    ['settings', settings(kube, namespace), ofSettings],
    ['lease', named(LEASES, [RECONCILER], here), ofLease],
    ['deployment', named(DEPLOYMENTS, [RECONCILER], here), ofWorkload],
    ['daemonset', all(DAEMON_SETS, { ...here, labelSelector: OUR_AGENTS }), ofWorkload],
    ['service', named(SERVICES, [WEBHOOK_SERVICE], here), ofService],
    ['pods', all(PODS, { ...here, labelSelector: OUR_PODS }), ofPod],
    ['events', events(EVENTS_NAMESPACE), ofEvent],
    ['events-kube-system', events(OLDER_EVENTS_NAMESPACE), ofEvent],
    ['crds', named(CRDS, Object.keys(CRD_FIELDS)), ofCrd],
  ];
}

interface Sources {
  readonly env?: readonly { readonly valueFrom?: { readonly configMapKeyRef?: { readonly name?: string } } }[];
  readonly envFrom?: readonly { readonly configMapRef?: { readonly name?: string } }[];
}

/** The ConfigMaps that the reconciler's environment comes from. */
const settings = (kube: Kube, namespace: string) => async (): Promise<readonly KubeObject[]> => {
  const deployment = (await kube.get({ resource: DEPLOYMENTS, namespace }, RECONCILER)) as {
    readonly spec?: { readonly template?: { readonly spec?: { readonly containers?: readonly Sources[] } } };
  } | null;
  const containers = deployment?.spec?.template?.spec?.containers ?? [];
  const names = containers.flatMap(({ env = [], envFrom = [] }) => [
    ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ...envFrom.map(({ configMapRef }) => configMapRef?.name),
  ]);
  const named = [...new Set(names.filter((name) => name !== undefined))];
  const maps = await Promise.all(named.map((name) => kube.get({ resource: CONFIG_MAPS, namespace }, name)));
  return maps.filter((map) => map !== null);
};

/** More nodes than this say nothing new; those that restarted come first. */
const MOST_PODS = 50;

async function collectLogs(
  pods: readonly KubeObject[],
  { transport, namespace, logLines: lines, progress }: CollectOptions,
  files: Map<string, string>,
  gaps: string[],
): Promise<void> {
  const chosen = [...pods].sort((a, b) => restartsOf(b) - restartsOf(a)).slice(0, MOST_PODS);
  if (chosen.length < pods.length) gaps.push(`logs: of ${chosen.length} of ${pods.length} pods only`);
  for (const pod of chosen) {
    const { name } = pod.metadata;
    progress.say(`reading the log of ${name}`);
    for (const previous of restartsOf(pod) > 0 ? [false, true] : [false]) {
      const file = `logs/${asFile(name)}${previous ? '.previous' : ''}.log`;
      const log = await readLog(transport, { namespace, pod: name, previous, lines });
      if ('text' in log) files.set(file, log.text);
      else gaps.push(`${file}: ${log.why}`);
    }
  }
}

/** A server may call a pod anything; nothing is written outside of the bundle. */
const asFile = (name: string): string => name.replaceAll(/[^\w.-]/g, '_');

function restartsOf(pod: KubeObject): number {
  const { status } = pod as { readonly status?: { readonly containerStatuses?: readonly { restartCount?: number }[] } };
  return (status?.containerStatuses ?? []).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
}

/** A kubelet that does not answer must not hold up the rest. */
const LIMIT_MS = 30_000;

interface LogQuestion {
  readonly namespace: string;
  readonly pod: string;
  /** Of the container before the last restart. */
  readonly previous: boolean;
  /** The last so many. */
  readonly lines: number;
}

type ReadLog = { readonly text: string } | { readonly why: string };

/** What a pod of ours wrote, without anything that looks like a credential. Never rejects. */
async function readLog(transport: Transport, question: LogQuestion): Promise<ReadLog> {
  const { namespace, pod, previous, lines } = question;
  const query = { tailLines: String(lines), timestamps: 'true', ...(previous ? { previous: 'true' } : {}) };
  const call = { verb: 'get', resource: PODS, namespace, name: pod, subresource: 'log', query } as const;
  const read: string[] = [];
  try {
    for await (const line of transport.lines(call, LIMIT_MS, new AbortController().signal)) read.push(line);
  } catch (error) {
    if (read.length === 0) return { why: redact(reasonOf(error)) };
    read.push(`(cut: ${reasonOf(error)})`);
  }
  return { text: redact(read.map((line) => `${line}\n`).join('')) };
}
