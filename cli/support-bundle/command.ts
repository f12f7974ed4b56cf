import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { type Millis, systemClock, toTimestamp } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import { type Connection, connectWith, requireReachable } from '../connect-cluster.ts';
import { forTerminal, type Io } from '../io.ts';
import { CLUSTER_OPTIONS } from '../options.ts';
import { progressFor } from '../progress-line.ts';
import { collect } from './collect.ts';
import { reportFiles } from './command-reports.ts';
import { tarGz } from './tar.ts';

const DEFAULT_LINES = 5_000;

export const SUPPORT_BUNDLE: Command = {
  name: 'support-bundle',
  summary: 'collects diagnostics for support, without secrets',
  mostWords: 0,
  about: [
    'Packs the objects, logs and Events of this software, versions, and what status, events and doctor say. It never reads\n' +
      'Secrets; it takes out passwords, tokens, keys and credentials in URLs, and keeps of Nodes, pods and settings only what\n' +
      'concerns this software. Names of nodes, pools, hosts and people stay: look through it before you send it.',
    'Exit code 1 if something could not be read: it is named, and the rest is packed.',
  ],
  options: {
    ...CLUSTER_OPTIONS,
    into: {
      type: 'string',
      value: 'PATH',
      about: 'a file that ends in .tar.gz, or a new directory (default kubelet-gitops-support-TIME.tar.gz)',
    },
    'log-lines': { type: 'string', value: 'N', about: `last lines of each log (default ${DEFAULT_LINES})` },
  },
  examples: [
    'kubelet-gitops support-bundle',
    'kubelet-gitops support-bundle --context prod --into bundle.tar.gz',
    'kubelet-gitops support-bundle --into bundle --log-lines 500',
  ],
  run: runSupportBundle,
};

async function runSupportBundle(given: Given, io: Io): Promise<ExitCode> {
  const now = systemClock.now();
  const logLines = linesOf(given.text('log-lines'));
  const into = given.text('into') ?? `kubelet-gitops-support-${toTimestamp(now).replaceAll(/[-:]/g, '')}.tar.gz`;
  if (into === '') throw new UsageError('--into needs a path');
  const connection = await connectWith(given, io);
  await requireReachable(connection.kube);
  const namespace = given.text('namespace') ?? DEFAULT_NAMESPACE;
  const progress = progressFor(io.err, () => performance.now());
  const { files, gaps } = await gather(connection, { namespace, now, logLines }, progress);
  await write(into, files, now);
  for (const gap of gaps) io.err.write(`not in it: ${gap}\n`);
  io.out.write(`${into}: ${files.size} files\n`);
  return gaps.length === 0 ? 0 : 1;
}

interface Wanted {
  readonly namespace: string;
  readonly now: Millis;
  readonly logLines: number;
}

async function gather(
  { kube, transport }: Connection,
  { namespace, now, logLines }: Wanted,
  progress: ReturnType<typeof progressFor>,
): Promise<{ readonly files: ReadonlyMap<string, string>; readonly gaps: readonly string[] }> {
  try {
    const reports = await reportFiles(kube, transport, namespace, now);
    const { files, gaps } = await collect({ kube, transport, namespace, logLines, progress });
    const all = [...reports.gaps, ...gaps];
    const readme = [['gaps.txt', all.map((gap) => `${gap}\n`).join('')]] as const;
    const texts = [...reports.files, ...readme, ...files].map(([path, text]) => [path, forTerminal(text)] as const);
    return { files: new Map(texts), gaps: all };
  } finally {
    progress.end();
  }
}

function linesOf(written: string = String(DEFAULT_LINES)): number {
  if (!/^[1-9]\d{0,5}$/.test(written)) throw new UsageError(`--log-lines ${written}: write a number from 1 to 999999`);
  return Number(written);
}

/** Other users of the machine cannot read it, and nothing is overwritten. */
async function write(into: string, files: ReadonlyMap<string, string>, at: Millis): Promise<void> {
  try {
    if (into.endsWith('.tar.gz')) {
      const archive = tarGz(basename(into, '.tar.gz'), files, at);
      await writeFile(into, archive, { flag: 'wx', mode: 0o600 });
      return;
    }
    await mkdir(into, { mode: 0o700 });
    for (const [path, text] of files) {
      await mkdir(dirname(join(into, path)), { recursive: true, mode: 0o700 });
      await writeFile(join(into, path), text, { flag: 'wx', mode: 0o600 });
    }
  } catch (error) {
    throw new GitopsError('BUNDLE_UNWRITABLE', `${into} cannot be written: ${reasonOf(error)}`);
  }
}
