import { connect, createServer } from 'node:net';
import { templateFiles, withFields } from '#sandbox/demo/template-repository.ts';
import { startGitServer } from '#sandbox/git-server/server.ts';

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

const pools = Number(process.argv[2] ?? '0');
const template = await templateFiles();
const pool = template['pools/general/pool.yaml'] ?? '';
const layer = template['pools/general/kubelet.yaml'] ?? '';
const files: Record<string, string> = { 'base/common.yaml': template['base/common.yaml'] ?? '' };
for (let index = 0; index < pools; index += 1) {
  files[`pools/p${index}/pool.yaml`] = pool;
  files[`pools/p${index}/kubelet.yaml`] = withFields(layer, { maxPods: 100 + index });
}

const git = await startGitServer();
await git.commit({ files, message: 'Many pools' });
let counted = 0;
const wire = createServer((client) => {
  const server = connect(Number(new URL(git.url).port), '127.0.0.1');
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.on('data', (chunk: Buffer) => (counted += chunk.length));
    from.on('error', () => to.destroy());
    from.pipe(to);
  }
});
wire.listen(0, '127.0.0.1', () => {
  const address = wire.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.send?.(git.url.replace(/:\d+\//, `:${port}/`));
});

process.on('message', (question: GitBenchQuestion) => {
  if (question === 'bytes') {
    process.send?.(counted);
    counted = 0;
  } else {
    const change = { 'pools/p0/kubelet.yaml': withFields(layer, { maxPods: 1000 + question.change }) };
    void git.commit({ files: change, message: 'Change' }).then((oid) => process.send?.(oid));
  }
});
