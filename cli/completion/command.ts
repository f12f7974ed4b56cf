import { type Command, UsageError } from '../command.ts';
import { bashCompletion, fishCompletion, KUBECTL_COMPLETION, zshCompletion } from './scripts.ts';

const SHELLS = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  kubectl: () => KUBECTL_COMPLETION,
} as const;

/** `kubelet-gitops completion SHELL`. */
export const COMPLETION = (others: readonly Command[]): Command => ({
  name: 'completion',
  summary: 'prints a shell’s completion script',
  takes: 'bash|zsh|fish|kubectl',
  mostWords: 1,
  about: [
    'Put the line of your shell below into its start-up file. Names of pools, nodes and namespaces come from the repository or\nthe cluster, within two seconds; a credential program that may ask questions is not run.',
    'For kubectl kubelet-gitops, save what completion kubectl prints as an executable of the name below in your PATH; npm does it for you.',
  ],
  options: {},
  examples: [
    'source <(kubelet-gitops completion bash)',
    'source <(kubelet-gitops completion zsh)',
    'kubelet-gitops completion fish | source',
    'kubelet-gitops completion kubectl > ~/.local/bin/kubectl_complete-kubelet_gitops',
  ],
  run: ({ words: [shell] }, io) => {
    const script = Object.entries(SHELLS).find(([name]) => name === shell)?.[1];
    if (script === undefined) throw new UsageError('completion needs the name of a shell: bash, zsh, fish or kubectl');
    io.out.write(script(others));
    return Promise.resolve(0);
  },
});
