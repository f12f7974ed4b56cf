import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { locateCtr, locateNode } from '../../cluster/support/binaries.ts';
import { buildImage } from '../../node/support/agent-pod.ts';
import { archiveImage } from './image-archive.ts';
import { ENABLED } from './machine-files.ts';
import { IMAGES, IMAGES_DIRECTORY } from './machine-paths.ts';
import { locateTree, type Tree } from './tree.ts';

const run = promisify(execFile);
/** Most of it is never written to: the file has holes. */
const DISK_SIZE = '6G';

export interface Disk {
  /** For what belongs to the machine; whoever boots it removes it. */
  readonly directory: string;
  readonly diskImage: string;
  readonly tree: Tree;
}

type Files = Readonly<Record<string, string | { readonly text: string; readonly mode: number }>>;

/** A disk with Debian, containerd, runc, the kubelet, the project's image and these files. */
export async function makeDisk(files: Files): Promise<Disk> {
  const [node, client, tree] = [await locateNode(), await locateCtr(), await locateTree()];
  if (!node.found) throw new Error(`no kubelet: ${node.reason}`);
  if (!client.found) throw new Error(`no ctr: ${client.reason}`);
  if (!tree.found) throw new Error(tree.reason);
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-machine-'));
  const root = join(directory, 'root');
  const { kubelet, directory: runtime, cniPlugins } = node.binaries;
  const programs = {
    '/usr/bin': [kubelet],
    '/usr/local/bin': [
      ...['containerd', 'containerd-shim-runc-v2', 'runc'].map((name) => join(runtime, name)),
      client.binaries.ctr,
    ],
    '/opt/cni/bin': ['ptp', 'host-local'].map((name) => join(cniPlugins, name)),
  };
  try {
    await run('cp', ['-a', '--reflink=auto', tree.binaries.root, root]);
    for (const [to, from] of Object.entries(programs)) {
      await mkdir(join(root, to), { recursive: true });
      await run('cp', ['--reflink=auto', ...from, join(root, to)]);
    }
    for (const [path, file] of Object.entries(files)) {
      const { text, mode } = typeof file === 'string' ? { text: file, mode: 0o644 } : file;
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text, { mode });
    }
    await addImages(join(root, IMAGES_DIRECTORY), tree.binaries.idle);
    await run('systemctl', ['--root', root, 'enable', ...ENABLED]);
    const diskImage = join(directory, 'disk');
    await run('mke2fs', ['-q', '-F', '-t', 'ext4', '-d', root, diskImage, DISK_SIZE]);
    await rm(root, { recursive: true });
    return { directory, diskImage, tree: tree.binaries };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

async function addImages(directory: string, idle: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'kubelet-gitops-idle-'));
  const image = await buildImage();
  try {
    await cp(idle, join(work, basename(idle)));
    await archiveImage(work, IMAGES.idle, '/idle', join(directory, 'idle.tar'));
    await archiveImage(join(image.directory, 'root'), IMAGES.agent, '/usr/bin/node', join(directory, 'agent.tar'));
  } finally {
    await rm(work, { recursive: true, force: true });
    await image.remove();
  }
}
