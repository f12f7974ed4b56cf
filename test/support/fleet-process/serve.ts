import { dirname } from 'node:path';
import { systemClock } from '#shared/runtime/clock.ts';
import { startUnreliableGit } from '../unreliable-proxy.ts';
import { createAgents } from './agents.ts';
import type { Answer, Ask, Asks, Question } from './asks.ts';
import { beginCluster, type FleetCluster } from './cluster.ts';
import { beat } from './heartbeats.ts';
import { nodeName } from './node-object.ts';
import { type ProgressView, watchProgress } from './progress.ts';

/** A process of its own for all that is not the reconciler: API server, git server and the agents of thousands of nodes. */

type Answers = { readonly [A in Ask]: (of: Asks[A]['asks']) => Promise<Asks[A]['answer']> | Asks[A]['answer'] };

interface Running {
  readonly git: Awaited<ReturnType<typeof startUnreliableGit>>;
  readonly cluster: FleetCluster;
  readonly progress: ProgressView;
  readonly names: readonly string[];
}

const stop = new AbortController();
let running: Running | undefined;
let beating = new AbortController();

const begun = (): Running => {
  if (running === undefined) throw new Error('nothing has begun yet');
  return running;
};

const ANSWERS: Answers = {
  async begin(options) {
    const { gitDirectory: directory } = options;
    const git = await startUnreliableGit(directory === undefined ? {} : { root: dirname(directory) });
    const cluster = await beginCluster(options);
    const progress = watchProgress(cluster.kube);
    running = { git, cluster, progress, names: Array.from({ length: options.nodes }, (_, index) => nodeName(index)) };
    void createAgents(cluster.kube, systemClock, options.agentStepMs, options.trials).run(stop.signal);
    void progress.run(stop.signal);
    return { apiUrl: cluster.url, gitUrl: git.url };
  },
  commit: ({ files }) => begun().git.commit({ files, message: 'Change' }),
  progress: () => begun().progress.now(),
  calls: () => begun().cluster.calls(),
  heartbeats({ everyMs }) {
    const { cluster, names } = begun();
    beating.abort();
    beating = new AbortController();
    if (everyMs > 0) void beat(cluster.kube, names, everyMs, beating.signal);
    return null;
  },
  git({ reachable }) {
    begun().git.setReachable(reachable);
    return null;
  },
};

async function answer({ id, ask, of }: Question): Promise<Answer> {
  try {
    const answering = ANSWERS[ask] as (of: unknown) => unknown;
    return { id, answer: await answering(of) };
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

process.on('message', (question: Question) => {
  void answer(question).then((said) => process.send?.(said));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ id: 0, answer: null } satisfies Answer);
