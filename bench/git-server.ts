import { withFields } from '#sandbox/demo/template-repository.ts';
import { startGitServer } from '#sandbox/git-server/server.ts';
import { manyPools } from './support/many-pools.ts';
import { startRelay } from './support/relay.ts';

/** The git server of the benchmark, behind a wire that counts. */
export interface GitBenchServer {
  readonly url: string;
  /** Bytes that crossed the wire, both ways, since the last call. */
  bytes(): Promise<number>;
  /** Commits a change to one file. */
  change(run: number): Promise<void>;
  stop(): Promise<void>;
}

/** What the benchmark may ask of this process; each is answered with one message. */
export type GitBenchQuestion = 'bytes' | { readonly change: number };

const files = await manyPools(Number(process.argv[2] ?? '0'));
const layer = files['pools/p0/kubelet.yaml'] ?? '';
const git = await startGitServer();
await git.commit({ files, message: 'Many pools' });
const relay = await startRelay(new URL(git.url));
process.send?.(git.url.replace(/:\d+\//, `:${relay.port}/`));

process.on('message', (question: GitBenchQuestion) => {
  if (question === 'bytes') {
    process.send?.(relay.bytes());
  } else {
    const change = { 'pools/p0/kubelet.yaml': withFields(layer, { maxPods: 1000 + question.change }) };
    void git.commit({ files: change, message: 'Change' }).then((oid) => process.send?.(oid));
  }
});
