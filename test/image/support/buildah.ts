import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { locateTree } from '../../node/support/tree.ts';

/** A store of images that nothing else on this machine sees. */
export interface Builder {
  /** Builds the Dockerfile in this directory. @returns the root directory of what came of it, and how it is to be run */
  readonly build: () => Promise<BuiltImage>;
  readonly remove: () => Promise<void>;
}

export interface BuiltImage {
  readonly root: string;
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly user: string;
}

interface Inspected {
  readonly OCIv1: {
    readonly config: { readonly Entrypoint: readonly string[]; readonly Cmd: readonly string[]; readonly User: string };
  };
}

const BASE = 'localhost/base';
const IMAGE = 'localhost/kubelet-gitops';
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';

export async function startBuilder(): Promise<Builder> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-image-'));
  const buildah = async (...args: readonly string[]): Promise<string> => {
    const store = [`--root=${directory}/root`, `--runroot=${directory}/run`];
    const { stdout } = await promisify(execFile)('buildah', [...store, ...args], { maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  };
  return {
    async build() {
      await makeBase(buildah);
      // What npm needs to reach its registry from here is lent for the time of the build, and gets into no layer.
      const npmrc = join(homedir(), '.npmrc');
      const lent = existsSync(npmrc) ? [`--volume=${npmrc}:/root/.npmrc:ro`] : [];
      const where = ['--isolation=chroot', '--network=host', `--build-arg=BASE=${BASE}`, `--tag=${IMAGE}`];
      await buildah('build', ...where, ...lent, '.');
      const container = await buildah('from', IMAGE);
      const root = await buildah('mount', container);
      const { OCIv1 } = JSON.parse(await buildah('inspect', '--type=image', IMAGE)) as Inspected;
      const { Entrypoint: entrypoint, Cmd: cmd, User: user } = OCIv1.config;
      return { root, entrypoint, cmd, user };
    },
    async remove() {
      await buildah('rm', '--all').catch(() => undefined);
      await buildah('rmi', '--all', '--force').catch(() => undefined);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * In place of the official image with Node, which this machine may not reach: the Debian that the nodes of other tests boot,
 * the pinned Node, and the npm that runs here.
 */
async function makeBase(buildah: (...args: readonly string[]) => Promise<string>): Promise<void> {
  const tree = await locateTree();
  if (!tree.found) throw new Error(tree.reason);
  const { stdout } = await promisify(execFile)('npm', ['root', '--global']);
  const container = await buildah('from', 'scratch');
  const copy = (from: string, to: string): Promise<string> => buildah('copy', '--quiet', container, from, to);
  await copy(tree.path, '/');
  await copy(await realpath(process.execPath), '/usr/local/bin/node');
  await copy(join(await realpath(stdout.trim()), 'npm'), '/usr/local/lib/node_modules/npm');
  await copy(process.env['NODE_EXTRA_CA_CERTS'] ?? AUTHORITIES, AUTHORITIES);
  const npm = '/usr/local/lib/node_modules/npm/bin/npm-cli.js';
  await buildah(
    'run',
    '--isolation=chroot',
    container,
    '--',
    'ln',
    '-sf',
    npm,
    join(dirname('/usr/local/bin/node'), 'npm'),
  );
  await buildah('config', `--env=NODE_EXTRA_CA_CERTS=${AUTHORITIES}`, container);
  await buildah('commit', '--quiet', '--rm', container, BASE);
}
