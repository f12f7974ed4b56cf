import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const MANIFESTS = {
  agent: '../../deploy/agent/daemonset.yaml',
  reconciler: '../../deploy/reconciler/deployment.yaml',
} as const;

interface Workload {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } };
  };
}

/** The flags that the manifests give Node for a program: all arguments before its bundle. */
export function manifestFlags(program: keyof typeof MANIFESTS): readonly string[] {
  const text = readFileSync(fileURLToPath(new URL(MANIFESTS[program], import.meta.url)), 'utf8');
  const { containers } = (parse(text) as Workload).spec.template.spec;
  return containers[0]?.args.filter((arg) => arg.startsWith('--')) ?? [];
}
