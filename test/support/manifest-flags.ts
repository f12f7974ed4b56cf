import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const MANIFESTS = {
  agent: '../../deploy/agent/daemonset.yaml',
  reconciler: '../../deploy/reconciler/deployment.yaml',
} as const;

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly resources: { readonly limits: { readonly memory: string } };
}

interface Workload {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly Container[] } };
  };
}

/** The flags that the manifests give Node for a program: all arguments before its bundle. */
export function manifestFlags(program: keyof typeof MANIFESTS): readonly string[] {
  return containerOf(program)?.args.filter((arg) => arg.startsWith('--')) ?? [];
}

/** How the manifests have the C library keep a program's memory: the variables that begin with `MALLOC_`. */
export function manifestMalloc(program: keyof typeof MANIFESTS): Readonly<Record<string, string>> {
  const { env = [] } = containerOf(program) ?? {};
  return Object.fromEntries(env.flatMap(({ name, value = '' }) => (name.startsWith('MALLOC_') ? [[name, value]] : [])));
}

/** How much memory the manifests let a program have. */
export function memoryLimitMiB(program: keyof typeof MANIFESTS): number {
  const written = containerOf(program)?.resources.limits.memory ?? '';
  const [, mebibytes] = /^(\d+)Mi$/.exec(written) ?? [];
  return Number(mebibytes);
}

function containerOf(program: keyof typeof MANIFESTS): Container | undefined {
  const text = readFileSync(fileURLToPath(new URL(MANIFESTS[program], import.meta.url)), 'utf8');
  return (parse(text) as Workload).spec.template.spec.containers[0];
}
