/** Follows all KubeletNodes as the reconciler does, and says how far it is. */
import { viewKubeletNode } from '#reconciler/cluster/object-views.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { createKube } from '#shared/kube/client.ts';
import { type Credential, staticCredentials } from '#shared/kube/kube-credentials.ts';
import { listWatch } from '#shared/kube/list-watch.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';

/** Its only message, over its IPC channel. */
export interface Follow {
  readonly server: string;
  readonly credential: Credential;
  /** Events after which it says something. */
  readonly events: number;
}

/** Said twice: of the list, then of the events. */
export interface Followed {
  readonly heard: number;
  /** Of those, objects that said who wrote which field. */
  readonly withManagedFields: number;
  /** Of CPU, since that message, or since its last report. */
  readonly cpuMs: number;
}

const hasManagedFields = ({ metadata }: KubeObject): boolean => 'managedFields' in metadata;

async function run({ server, credential, events }: Follow): Promise<void> {
  let before = process.cpuUsage();
  const say = (heard: number): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    process.send?.({ heard, withManagedFields, cpuMs: (user + system) / 1000 } satisfies Followed);
    withManagedFields = 0;
  };
  const kube = createKube({
    server,
    credentials: staticCredentials(credential),
    clock: systemClock,
    log: silentLog,
    userAgent: 'kubelet-gitops-bench',
  });
  let withManagedFields = 0;
  const take = (object: KubeObject): KubeObject => {
    if (hasManagedFields(object)) withManagedFields += 1;
    return viewKubeletNode(object);
  };
  const fail = (error: unknown): never => {
    throw error;
  };
  const nodes = new Map<string, KubeObject>();
  let changes = 0;
  const { signal } = new AbortController();
  const options = { signal, clock: systemClock, random: () => 0.5, onFault: fail, trim: take };
  for await (const heard of listWatch<KubeObject>(kube, { resource: KUBELET_NODES }, options)) {
    if (heard.heard === 'replaced') {
      for (const item of heard.items) nodes.set(item.metadata.name, item);
      say(heard.items.length);
    } else {
      nodes.set(heard.item.metadata.name, take(heard.item));
      changes += 1;
      if (changes === events) say(changes);
    }
  }
}

process.once('message', (told: Follow) => void run(told));
process.on('disconnect', () => process.exit(0));
