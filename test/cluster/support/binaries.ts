import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inCi, runRecipe } from '../../support/recipe.ts';

/** Absolute paths. */
export interface ControlPlaneBinaries {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubectl: string;
}

/** Absolute paths; `directory` belongs at the front of containerd's PATH. */
export interface NodeBinaries {
  readonly directory: string;
  readonly kubelet: string;
  readonly containerd: string;
  readonly runc: string;
  readonly cniPlugins: string;
}

export type Located<T> =
  | { readonly found: true; readonly binaries: T }
  | { readonly found: false; readonly reason: string };

const RECIPE = join(import.meta.dirname, 'kubernetes-1.20', 'build.sh');

/**
 * etcd, kube-apiserver and kubectl: those in the directory that KUBEBUILDER_ASSETS names (envtest's convention, of any
 * version) where it is set, otherwise our build of 1.20.2.
 */
export async function locateControlPlane(): Promise<Located<ControlPlaneBinaries>> {
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
  const directory = assets === '' ? await ourBuild() : ({ found: true, path: assets } as const);
  if (!directory.found) return directory;
  return complete({
    etcd: join(directory.path, 'etcd'),
    kubeApiserver: join(directory.path, 'kube-apiserver'),
    kubectl: join(directory.path, 'kubectl'),
  });
}

/** kubelet 1.20.2 and a container runtime for it, from our build. Running them takes root on Linux. */
export async function locateNode(): Promise<Located<NodeBinaries>> {
  if (process.getuid?.() !== 0) return { found: false, reason: 'a real kubelet needs root' };
  const directory = await ourBuild();
  if (!directory.found) return directory;
  return complete({
    directory: directory.path,
    kubelet: join(directory.path, 'kubelet'),
    containerd: join(directory.path, 'containerd'),
    runc: join(directory.path, 'runc'),
    cniPlugins: join(directory.path, 'cni'),
  });
}

/** For a test's `skip` option: why there can be no control plane here, or false. @throws instead of skipping in CI */
export async function whyNoControlPlane(): Promise<string | false> {
  return skipFor(await locateControlPlane());
}

/** The same for a control plane with real kubelets. */
export async function whyNoNode(): Promise<string | false> {
  return skipFor(await locateControlPlane()) || skipFor(await locateNode());
}

function skipFor(located: Located<unknown>): string | false {
  if (located.found) return false;
  if (inCi()) throw new Error(`in CI the cluster tests must run: ${located.reason}`);
  return located.reason;
}

type Directory = { readonly found: true; readonly path: string } | { readonly found: false; readonly reason: string };

let building: Promise<string> | undefined;

/** The directory of our build. In CI it is made when it is missing. */
async function ourBuild(): Promise<Directory> {
  if (inCi()) return { found: true, path: await (building ??= runRecipe(RECIPE)) };
  const path = await promisify(execFile)(RECIPE, ['--where']).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (path !== undefined) return { found: true, path };
  return { found: false, reason: `Kubernetes 1.20.2 is not built on this machine; run ${RECIPE} as root, once` };
}

function complete<T extends object>(binaries: T): Located<T> {
  const missing = Object.values(binaries).filter((path: string) => !existsSync(path));
  if (missing.length === 0) return { found: true, binaries };
  return { found: false, reason: `missing: ${missing.join(', ')}` };
}
