import { randomUUID } from 'node:crypto';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { readTokens, type Subject } from '#sandbox/api-server/access/subject.ts';
import { createFaults, type Faults } from '#sandbox/api-server/faults.ts';
import { directKube } from '#sandbox/api-server/direct-kube.ts';
import type { ApiCall } from '#sandbox/api-server/request/api-call.ts';
import { handle } from '#sandbox/api-server/http/handle.ts';
import { bootstrapCluster, PROJECT_CRDS } from '#sandbox/api-server/bootstrap-cluster.ts';
import { createListener, type Listener } from '#sandbox/api-server/listener.ts';
import { type Objects, objectsOf } from '#sandbox/api-server/sandbox-objects.ts';
import type { Api } from '#sandbox/api-server/api.ts';
import { EVENT_VIEW } from '#sandbox/api-server/resources/event-views.ts';
import { createRegistry } from '#sandbox/api-server/resources/registry.ts';
import { createStore, type Snapshot } from '#sandbox/api-server/store/resource-store.ts';
import { createWatchHub, type WatchHub } from '#sandbox/api-server/watch/hub.ts';

export interface ApiServerOptions {
  /** Default: any free one. */
  readonly port?: number;
  /** Bearer tokens that may do everything, or subjects by token. */
  readonly tokens: readonly string[] | Readonly<Record<string, Subject>>;
  /** The user of a request without a token. Default: one without rights. */
  readonly anonymous?: Subject;
  /** Paths of YAML files with CustomResourceDefinitions. Default: the project's own. */
  readonly crdFiles?: readonly string[];
  /** Namespaces besides those that every cluster has. Default: the project's own. */
  readonly namespaces?: readonly string[];
  readonly clock?: Clock;
  /** Numbers in [0, 1): for generated names and for the length of watches. */
  readonly random?: () => number;
  /** Changes that are remembered per resource, for watches to go on from. Default 10 000. */
  readonly historyLimit?: number;
  /** Time between two bookmarks, where there is anything to mark. Default a minute, as kube-apiservers have it. */
  readonly bookmarkEveryMs?: Millis;
  /** Hears of every request of a known subject before it is answered. */
  readonly onCall?: (call: ApiCall, subject: Subject) => void;
}

/**
 * An API server in this process, over plain HTTP on the loopback interface, for the few resources that the project
 * uses. What it does is what a kube-apiserver does with the same requests: the conformance tests run against both.
 *
 * Left out: server-side apply, JSON patches, deletion of collections, finalizers, managedFields, protobuf. Objects of a
 * deleted owner or namespace go with it at once, as if the controllers of a real cluster were very quick.
 */
export interface SandboxApiServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** The objects, from inside. */
  readonly store: Objects;
  /** A client of the objects from inside: without a connection, rights or faults. */
  readonly direct: Kube;
  readonly faults: Faults;
  /** How many watches are open. */
  readonly watches: () => number;
  /** Ends all open watches: in order (the default), or as if their connections had broken. */
  readonly dropWatches: (how?: 'closed' | 'reset') => void;
  /** Sends the bookmarks that are due at some time now. */
  readonly sendBookmarks: () => void;
  /** Forgets the past: who watches from an older version gets a 410, and so does who asks for the next page of a list. */
  readonly compact: () => void;
  /** A backup of etcd, and its restore: who watches hears nothing of it, as from a real server. */
  readonly snapshot: () => Snapshot;
  readonly restore: (snapshot: Snapshot) => void;
  /** Goes away, as in an outage: connections break, all objects stay. Also the way to be done with it. */
  readonly stop: () => Promise<void>;
  /** Comes back on the same port. */
  readonly start: () => Promise<void>;
  readonly restart: () => Promise<void>;
}

/** @throws where the port is taken or a CRD file cannot be read */
export async function startApiServer(options: ApiServerOptions): Promise<SandboxApiServer> {
  const { clock = systemClock, random = Math.random, historyLimit = 10_000 } = options;
  const hub = createWatchHub();
  const api: Api = {
    store: createStore(hub.publish, historyLimit, [EVENT_VIEW]),
    registry: createRegistry(),
    now: clock.now,
    uid: randomUUID,
    random,
  };
  await bootstrapCluster(api, options.namespaces ?? [DEFAULT_NAMESPACE], options.crdFiles ?? PROJECT_CRDS);
  const faults = createFaults();
  const { anonymous, onCall } = options;
  const handling = { api, hub, clock, tokens: readTokens(options.tokens), anonymous, faults, onCall };
  const listener = createListener(options.port ?? 0, (request, response) => void handle(handling, request, response));
  const running = runWhileStarted(listener, hub, clock, options.bookmarkEveryMs ?? 60_000);
  await running.start();
  return {
    ...running,
    url: `http://127.0.0.1:${listener.port()}`,
    store: objectsOf(api),
    direct: directKube(api, hub, clock),
    faults,
    watches: () => hub.all().length,
    dropWatches: (how = 'closed') => hub.all().forEach((watcher) => watcher.end(how)),
    sendBookmarks: () => hub.all().forEach((watcher) => watcher.bookmark()),
    compact: api.store.compact,
    snapshot: api.store.snapshot,
    restore: api.store.restore,
  };
}

function runWhileStarted(
  listener: Listener,
  hub: WatchHub,
  clock: Clock,
  everyMs: Millis,
): Pick<SandboxApiServer, 'start' | 'stop' | 'restart'> {
  let stopping = new AbortController();
  const bookmarks = async ({ signal }: AbortController): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(everyMs, signal);
      if (!signal.aborted) hub.all().forEach((watcher) => watcher.bookmark());
    }
  };
  const start = async (): Promise<void> => {
    await listener.start();
    stopping.abort();
    stopping = new AbortController();
    void bookmarks(stopping);
  };
  const stop = async (): Promise<void> => {
    stopping.abort();
    await listener.stop();
  };
  return {
    start,
    stop,
    async restart() {
      await stop();
      await start();
    },
  };
}
