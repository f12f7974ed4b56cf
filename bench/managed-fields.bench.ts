import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import type { BenchOptions } from './bench-options.ts';
import { median, type Measurement } from './render-measurements.ts';
import { type ExtensionServers, startExtensionServers } from './support/extension-servers.ts';
import type { Follow, Followed } from './support/follow-nodes.ts';
import { beatEach, createKubeletNodes } from './support/kubelet-nodes.ts';
import { peakRssMiB } from './support/peak-memory.ts';
import { type Relay, startRelay } from './support/relay.ts';

const NODES = 2_000;
const ROUNDS = 3;
/** Without the gate first. */
const GATES = ['', 'ManagedFieldsOptOut=true'];
/** The watch begins: its request and its headers are nothing that an event costs. */
const SETTLE_MS = 1_000;
const MOST_OF_EVENT = 0.8;

/** One follower in one round. */
interface Figures {
  readonly listBytes: number;
  readonly listCpuMs: number;
  readonly eventBytes: number;
  readonly eventCpuMs: number;
  readonly peakRssMiB: number;
}

/** What API servers that leave managed fields out save a follower, beside the same server that does not. */
export async function measure(_options: BenchOptions): Promise<readonly Measurement[]> {
  const servers = await startExtensionServers(GATES);
  try {
    const [baseline = [], subject = []] = await run(servers);
    return rows(subject, baseline);
  } finally {
    await servers.stop();
  }
}

/** @returns for each server, the figures of its rounds */
async function run({ urls, credential }: ExtensionServers): Promise<readonly (readonly Figures[])[]> {
  const kube = createKube({
    server: urls[0] ?? '',
    credentials: staticCredentials(credential),
    clock: systemClock,
    log: silentLog,
    userAgent: 'simulated-agents',
  });
  await createKubeletNodes(kube, NODES);
  const figures: Figures[][] = urls.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    // Side by side, so that both hear of the same writes.
    const followers: Follower[] = [];
    try {
      for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
        followers[index] = await startFollower(urls[index] ?? '', credential, index === 1);
      }
      await sleep(SETTLE_MS);
      const all = Promise.all(followers.map((follower) => follower.events()));
      await Promise.all([all, beatEach(kube, NODES, round)]);
      for (const [index, each] of (await all).entries()) figures[index]?.push(each);
    } finally {
      await Promise.all(followers.map((follower) => follower.stop()));
    }
  }
  return figures;
}

interface Follower {
  /** Waits until it has heard of all writes. */
  events(): Promise<Figures>;
  stop(): Promise<void>;
}

/** A process that has listed all nodes. @param bare the server leaves managed fields out */
async function startFollower(url: string, credential: Follow['credential'], bare: boolean): Promise<Follower> {
  const relay = await startRelay(new URL(url));
  const child = fork(new URL('support/follow-nodes.ts', import.meta.url));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await relay.stop();
  };
  try {
    child.send({ server: `https://127.0.0.1:${relay.port}`, credential, events: NODES } satisfies Follow);
    const list = await said(child, relay, bare);
    return {
      async events() {
        relay.received();
        const events = await said(child, relay, bare);
        return {
          listBytes: list.bytes,
          listCpuMs: list.cpuMs,
          eventBytes: events.bytes / NODES,
          eventCpuMs: events.cpuMs / NODES,
          peakRssMiB: await peakRssMiB(child.pid ?? 0),
        };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What it says next, and the bytes that it received until then. */
async function said(child: ChildProcess, relay: Relay, bare: boolean): Promise<Followed & { readonly bytes: number }> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = once(child, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
  const message = once(child, 'message', { signal });
  const [followed] = (await Promise.race([message, ended])) as [Followed];
  const bytes = relay.received();
  waiting.abort();
  const { heard, withManagedFields } = followed;
  if (heard !== NODES || withManagedFields !== (bare ? 0 : NODES)) {
    throw new Error(`${withManagedFields} of ${heard} objects have managed fields: nothing would be compared`);
  }
  return { ...followed, bytes };
}

function rows(subject: readonly Figures[], baseline: readonly Figures[]): readonly Measurement[] {
  const row = (text: string, unit: string, of: (figures: Figures) => number): Measurement => ({
    what: `${NODES} KubeletNodes: ${text}`,
    unit,
    subject: subject.map(of),
    baseline: { what: 'without the gate', values: baseline.map(of) },
  });
  const event = row('an event of a watch', 'B', ({ eventBytes }) => eventBytes);
  const kept = median(event.subject) <= MOST_OF_EVENT * median(event.baseline.values);
  return [
    { ...event, promise: { text: `at most ${MOST_OF_EVENT * 100}%`, kept } },
    row('CPU of an event', 'ms', ({ eventCpuMs }) => eventCpuMs),
    row('the list, by pages, packed', 'KiB', ({ listBytes }) => listBytes / 1024),
    row('CPU of the list', 'ms', ({ listCpuMs }) => listCpuMs),
    row('peak RSS', 'MiB', (figures) => figures.peakRssMiB),
  ];
}
