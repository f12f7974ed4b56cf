import type { StatusView } from '#cli/status/render.ts';
import { templateFiles, withFields } from '#sandbox/demo/template-repository.ts';
import type { SandboxGitServer } from '#sandbox/git-server/server.ts';
import type { SandboxNodeOptions } from '#sandbox/sandbox-node.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '#sandbox/sandbox.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Resource } from '#shared/kube/kube.ts';
import { silentLog } from '#shared/runtime/log.ts';

export const WORKER = { 'node-role.kubernetes.io/worker': '' };
export const GPU = { ...WORKER, accelerator: 'nvidia' };
export const CONTROL_PLANE = { 'node-role.kubernetes.io/control-plane': '' };

/** Generous: what is waited for comes within a second or two, and a busy machine must not fail a test. */
export const PATIENCE_MS = 180_000;

export const settled = ({ pools }: StatusView): boolean =>
  pools.length > 0 && pools.every(({ status }) => status?.phase === 'Settled' || status?.phase === 'Empty');

export const phaseOf = (view: StatusView, pool: string): string | undefined =>
  view.pools.find(({ metadata }) => metadata.name === pool)?.status?.phase;

export const configOf = (view: StatusView, pool: string): string | undefined =>
  view.pools.find(({ metadata }) => metadata.name === pool)?.status?.configName;

/** Resolves with the first object of which the condition holds, however short: none of its changes is missed. */
export async function firstOf<T extends KubeObject>(
  { kube }: Sandbox,
  resource: Resource,
  condition: (object: T) => boolean,
): Promise<T> {
  const { items, resourceVersion: version } = await kube.list<T>({ resource });
  const there = items.find(condition);
  if (there !== undefined) return there;
  for await (const event of kube.watch<T>(
    { resource },
    { version, lastsMs: PATIENCE_MS },
    AbortSignal.timeout(PATIENCE_MS),
  )) {
    if (event.type !== 'BOOKMARK' && condition(event.object)) return event.object;
  }
  throw new Error('the watch ended before');
}

/** Trials of a fraction of a second, and no soaks. */
export const quickFiles = (): Promise<Readonly<Record<string, string>>> =>
  templateFiles({ trial: '200ms', soak: '0s', startTimeout: '30s' });

/** The same without what a node that changes between the pools would have to be drained for. */
export async function undrainedFiles(): Promise<Readonly<Record<string, string>>> {
  const template = await quickFiles();
  const gpu = (template['pools/gpu/kubelet.yaml'] ?? '').replace(/^topologyManager.*\n/gm, '');
  return { ...template, 'pools/gpu/kubelet.yaml': gpu };
}

/** A cluster of one worker that follows its branch closely, unless the options say otherwise. */
export const startWorld = (options: Partial<SandboxOptions> = {}): Promise<Sandbox> =>
  startSandbox({
    cluster: 'demo',
    nodes: [{ name: 'worker-1', labels: WORKER }],
    log: () => silentLog,
    pollMs: 100,
    ...options,
  });

/** A world with three workers and a GPU node, and its files; trials of a fraction of a second. */
export interface Scenario extends AsyncDisposable {
  readonly world: Sandbox;
  readonly files: Readonly<Record<string, string>>;
  /** Commits fields of a pool's kubelet.yaml. @returns the commit */
  change(pool: string, fields: Readonly<Record<string, unknown>>, message?: string): Promise<string>;
  /** Waits until all pools are settled on this commit. */
  settledOn(commit: string): Promise<StatusView>;
  restarts(): Readonly<Record<string, number>>;
}

const MACHINES: readonly SandboxNodeOptions[] = [
  { name: 'worker-1', labels: WORKER },
  { name: 'worker-2', labels: WORKER },
  { name: 'worker-3', labels: WORKER },
  { name: 'gpu-1', labels: GPU },
];

/** @param git what serves the repository; one of its own otherwise. Whoever started it stops it */
export async function startScenario(
  nodes: readonly SandboxNodeOptions[] = MACHINES,
  git?: SandboxGitServer,
  options: Partial<SandboxOptions> = {},
): Promise<Scenario> {
  const world = await startWorld({ ...options, nodes, ...(git && { git }) });
  const files = await undrainedFiles();
  const commit = await world.git.commit({ files, message: 'Start' });
  const scenario: Scenario = {
    world,
    files,
    change: (pool, fields, message = 'Change') => {
      const path = `pools/${pool}/kubelet.yaml`;
      return world.git.commit({ files: { [path]: withFields(files[path] ?? '', fields) }, message });
    },
    settledOn: (oid) =>
      world.until(`settled on ${oid.slice(0, 8)}`, (view) => view.source.commit === oid && settled(view)),
    restarts: () => Object.fromEntries([...world.nodes].map(([name, node]) => [name, node.kubelet.starts()])),
    [Symbol.asyncDispose]: () => world.stop(),
  };
  await scenario.settledOn(commit);
  return scenario;
}
