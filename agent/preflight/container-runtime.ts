import type { HostFiles } from '../host/host-files.ts';
import type { HostFacts } from './host-facts.ts';

const CONTAINERD = '/etc/containerd/config.toml';

/** In the order in which CRI-O reads them: the last one wins. */
async function crioFiles(files: HostFiles): Promise<readonly string[]> {
  const directory = '/etc/crio/crio.conf.d';
  const dropIns = ((await files.names(directory)) ?? []).toSorted().map((name) => `${directory}/${name}`);
  return ['/etc/crio/crio.conf', ...dropIns];
}

/** How the container runtime makes cgroups, by its own config file; undefined where none says so. */
export async function readRuntimeDriver(files: HostFiles): Promise<HostFacts['runtimeDriver']> {
  const systemd = /^[ \t]*SystemdCgroup[ \t]*=[ \t]*(true|false)/m.exec((await files.text(CONTAINERD)) ?? '')?.[1];
  if (systemd !== undefined) return { driver: systemd === 'true' ? 'systemd' : 'cgroupfs', file: CONTAINERD };
  for (const file of (await crioFiles(files)).toReversed()) {
    const manager = /^[ \t]*cgroup_manager[ \t]*=[ \t]*"(systemd|cgroupfs)"/m.exec((await files.text(file)) ?? '')?.[1];
    if (manager !== undefined) return { driver: manager as 'systemd' | 'cgroupfs', file };
  }
  return undefined;
}

/**
 * A directory of the file system that the runtime reports as that of images. Undefined where its own files leave a doubt: images
 * that are kept elsewhere, another snapshotter, files that include others, a runtime that is neither containerd nor CRI-O.
 *
 * @param endpoint of the runtime, as the kubelet has it
 */
export async function imageDirectory(endpoint: string | undefined, files: HostFiles): Promise<string | undefined> {
  const runtime = /^(?:unix:\/\/)?(?:\/var)?\/run\/(containerd|crio)\/\1\.sock$/.exec(endpoint ?? '')?.[1];
  if (runtime === undefined) return undefined;
  const directory = await (runtime === 'crio' ? crioImages(files) : containerdImages(files));
  return directory !== undefined && (await files.kind(directory)) === 'directory' ? directory : undefined;
}

async function containerdImages(files: HostFiles): Promise<string | undefined> {
  const text = (await files.text(CONTAINERD)) ?? '';
  const isElsewhere = /^[ \t]*(?:imports[ \t]*=[ \t]*\[\s*["']|root_path[ \t]*=[ \t]*["'][^"'])/m.test(text);
  const snapshotter = valueIn(text, 'snapshotter') ?? 'overlayfs';
  if (isElsewhere || snapshotter !== 'overlayfs') return undefined;
  return `${valueIn(text, 'root') ?? '/var/lib/containerd'}/io.containerd.snapshotter.v1.overlayfs`;
}

async function crioImages(files: HostFiles): Promise<string | undefined> {
  const storage = (await files.text('/etc/containers/storage.conf')) ?? '';
  const all = await Promise.all((await crioFiles(files)).map((file) => files.text(file)));
  if ([storage, ...all].some((text = '') => valueIn(text, 'imagestore') !== undefined)) return undefined;
  const root = all.reduce<string | undefined>((found, text = '') => valueIn(text, 'root') ?? found, undefined);
  return `${root ?? valueIn(storage, 'graphroot') ?? '/var/lib/containers/storage'}/overlay-images`;
}

/** The first such value in a TOML file that is not empty. */
const valueIn = (text: string, key: string): string | undefined =>
  [...text.matchAll(/^[ \t]*(\w+)[ \t]*=[ \t]*["']([^"'\n]+)["']/gm)].find(([, name]) => name === key)?.[2];
