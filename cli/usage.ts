import { parseArgs } from 'node:util';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';

export const USAGE = `kubelet-gitops: kubelet configuration from git

Usage:
  kubelet-gitops status [--kubeconfig FILE] [--context NAME] [--namespace NAME] [--watch]
      Shows the commit in force, the pools and the nodes of a cluster.
      Exit code 0 when every pool is settled, 1 when something is under way or wrong.

  kubelet-gitops validate [DIRECTORY] [--cluster NAME] [--kubelet-version 1.34]...
      Reads a config repository as the reconciler does and prints what is wrong with it, with file, line and column.
      Needs no cluster. Without --cluster every file in clusters/ is tried.
      Exit code 0 when nothing was found, 1 when something was.

  kubelet-gitops --version
  kubelet-gitops --help

Exit code 2 always means that the command could not run.

Examples:
  kubelet-gitops validate .
  kubelet-gitops validate . --kubelet-version 1.33 --kubelet-version 1.34
  kubelet-gitops status --context prod --watch

In a checkout, npm run demo shows the whole system at work without a cluster.
`;

export interface StatusOptions {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string;
  readonly watch: boolean;
}

export interface ValidateOptions {
  readonly directory: string;
  readonly cluster: string | undefined;
  readonly kubeletVersions: readonly string[];
}

export type CommandLine =
  | { readonly command: 'help' | 'version' }
  | { readonly command: 'mistake'; readonly message: string }
  | { readonly command: 'status'; readonly options: StatusOptions }
  | { readonly command: 'validate'; readonly options: ValidateOptions };

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  namespace: { type: 'string' },
  watch: { type: 'boolean', short: 'w' },
  cluster: { type: 'string' },
  'kubelet-version': { type: 'string', multiple: true },
} as const;

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  status: ['kubeconfig', 'context', 'namespace', 'watch'],
  validate: ['cluster', 'kubelet-version'],
};

/** What the words of the command line ask for. Never throws: what is wrong with them is a `mistake`. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const mistake = (message: string): CommandLine => ({ command: 'mistake', message });
  let parsed;
  try {
    parsed = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return mistake(error instanceof Error ? (error.message.split('. ')[0] ?? '') : 'the arguments cannot be read');
  }
  const { values, positionals } = parsed;
  const [command = '', ...words] = positionals;
  if (values.help === true || command === 'help' || (argv.length === 0 && command === '')) return { command: 'help' };
  if (values.version === true) return { command: 'version' };

  const allowed = ALLOWED[command];
  if (allowed === undefined) return mistake(command === '' ? 'no command given' : `there is no command ${command}`);
  const stray = Object.keys(values).find((option) => !allowed.includes(option));
  if (stray !== undefined) return mistake(`${command} knows no option --${stray}`);

  if (command === 'status') {
    if (words.length > 0) return mistake(`status takes no argument, and got ${words.join(' ')}`);
    const { kubeconfig, context, namespace = DEFAULT_NAMESPACE, watch = false } = values;
    return { command, options: { kubeconfig, context, namespace, watch } };
  }
  if (words.length > 1) return mistake(`validate takes one directory, and got ${words.join(' ')}`);
  const kubeletVersions = values['kubelet-version'] ?? [];
  const strange = kubeletVersions.find((version) => !/^1\.\d+$/.test(version));
  if (strange !== undefined) return mistake(`--kubelet-version ${strange}: write the minor version, 1.34`);
  return {
    command: 'validate',
    options: { directory: words[0] ?? '.', cluster: values.cluster, kubeletVersions },
  };
}
