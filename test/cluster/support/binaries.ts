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

/** Absolute paths; `directory` holds containerd and its shim, and belongs at the front of its PATH. */
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

/** The minor that everything runs on unless `KUBERNETES` names another: the oldest that is supported. */
const OLDEST = '1.20';

/** The minor of control plane and kubelet here, for example "1.37". What KUBEBUILDER_ASSETS holds may be of any other. */
export const KUBERNETES = process.env['KUBERNETES'] ?? OLDEST;

const OLDEST_RECIPE = join(import.meta.dirname, 'kubernetes-1.20', 'build.sh');
const RECIPE = join(import.meta.dirname, '..', '..', 'support', 'go-programs', 'build.sh');

/**
 * etcd, kube-apiserver and kubectl: those in the directory that KUBEBUILDER_ASSETS names (envtest's convention, of any
 * version) where it is set, otherwise our build of the minor that KUBERNETES names.
 */
export async function locateControlPlane(): Promise<Located<ControlPlaneBinaries>> {
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
  if (assets !== '') return controlPlaneIn(assets, assets);
  if (KUBERNETES === OLDEST) {
    const directory = await made(OLDEST_RECIPE, []);
    return directory.found ? controlPlaneIn(directory.path, directory.path) : directory;
  }
  const kubernetes = await made(RECIPE, [`kubernetes-${KUBERNETES}`, 'kube-apiserver', 'kubectl']);
  if (!kubernetes.found) return kubernetes;
  const etcd = await made(RECIPE, ['etcd', 'etcd']);
  return etcd.found ? controlPlaneIn(kubernetes.path, etcd.path) : etcd;
}

const controlPlaneIn = (kubernetes: string, etcd: string): Located<ControlPlaneBinaries> =>
  complete({
    etcd: join(etcd, 'etcd'),
    kubeApiserver: join(kubernetes, 'kube-apiserver'),
    kubectl: join(kubernetes, 'kubectl'),
  });

/** containerd finds its shim beside itself. */
const RUNTIME = ['containerd', 'containerd-shim-runc-v2', 'runc', 'ptp', 'host-local'];

/** A kubelet of the minor that KUBERNETES names, and a container runtime for it, from our builds. Running them takes root on Linux. */
export async function locateNode(): Promise<Located<NodeBinaries>> {
  if (process.getuid?.() !== 0) return { found: false, reason: 'a real kubelet needs root' };
  if (KUBERNETES === OLDEST) {
    const directory = await made(OLDEST_RECIPE, []);
    return directory.found ? nodeIn(directory.path, directory.path, join(directory.path, 'cni')) : directory;
  }
  const kubernetes = await made(RECIPE, [`kubernetes-${KUBERNETES}`, 'kubelet']);
  if (!kubernetes.found) return kubernetes;
  const runtime = await made(RECIPE, ['container-runtime', ...RUNTIME]);
  return runtime.found ? nodeIn(kubernetes.path, runtime.path, runtime.path) : runtime;
}

/** Path of a kubelet of that minor, for example "1.36", beside the one that KUBERNETES names. */
export async function locateKubelet(minor: string): Promise<Located<{ readonly kubelet: string }>> {
  const kubernetes = await made(RECIPE, [`kubernetes-${minor}`, 'kubelet']);
  return kubernetes.found ? complete({ kubelet: join(kubernetes.path, 'kubelet') }) : kubernetes;
}

/** Path of the controller manager of the minor that KUBERNETES names; there is none of the oldest. */
export async function locateControllerManager(): Promise<Located<{ readonly controllerManager: string }>> {
  const kubernetes = await made(RECIPE, [`kubernetes-${KUBERNETES}`, 'kube-controller-manager']);
  return kubernetes.found
    ? complete({ controllerManager: join(kubernetes.path, 'kube-controller-manager') })
    : kubernetes;
}

/** Path of containerd's own client, which imports images that no registry has. */
export async function locateCtr(): Promise<Located<{ readonly ctr: string }>> {
  const runtime = await made(RECIPE, ['container-runtime', 'ctr']);
  return runtime.found ? complete({ ctr: join(runtime.path, 'ctr') }) : runtime;
}

const nodeIn = (kubernetes: string, runtime: string, cniPlugins: string): Located<NodeBinaries> =>
  complete({
    directory: runtime,
    kubelet: join(kubernetes, 'kubelet'),
    containerd: join(runtime, 'containerd'),
    runc: join(runtime, 'runc'),
    cniPlugins,
  });

/** For a test's `skip` option: why there can be no control plane here, or false. @throws instead of skipping in CI */
export async function controlPlaneSkipReason(): Promise<string | false> {
  return skipFor(await locateControlPlane());
}

/** The same for a control plane with real kubelets. */
export async function nodeSkipReason(): Promise<string | false> {
  return skipFor(await locateControlPlane()) || skipFor(await locateNode());
}

/** The same for a control plane with a controller manager. */
export async function controllersSkipReason(): Promise<string | false> {
  return skipFor(await locateControlPlane()) || skipFor(await locateControllerManager());
}

function skipFor(located: Located<unknown>): string | false {
  if (located.found) return false;
  if (inCi()) throw new Error(`in CI the cluster tests must run: ${located.reason}`);
  return located.reason;
}

type Directory = { readonly found: true; readonly path: string } | { readonly found: false; readonly reason: string };

const making = new Map<string, Promise<string>>();

/** The directory that a recipe makes. In CI it is made when it is missing. */
async function made(recipe: string, args: readonly string[]): Promise<Directory> {
  const command = [recipe, ...args].join(' ');
  if (inCi()) {
    const path = making.get(command) ?? runRecipe(recipe, args);
    making.set(command, path);
    return { found: true, path: await path };
  }
  const path = await promisify(execFile)(recipe, ['--where', ...args]).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (path !== undefined) return { found: true, path };
  return { found: false, reason: `Kubernetes ${KUBERNETES} is not built on this machine; run ${command}, once` };
}

function complete<T extends object>(binaries: T): Located<T> {
  const missing = Object.values(binaries).filter((path: string) => !existsSync(path));
  if (missing.length === 0) return { found: true, binaries };
  return { found: false, reason: `missing: ${missing.join(', ')}` };
}
