import { type Command, Mistake } from '../command.ts';
import { bashCompletion, fishCompletion, zshCompletion } from './scripts.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** `kubelet-gitops completion SHELL`. */
export const COMPLETION = (others: readonly Command[]): Command => ({
  name: 'completion',
  summary: 'prints a shell’s completion script',
  takes: 'bash|zsh|fish',
  mostWords: 1,
  about: ['Put the line of your shell below into its start-up file.'],
  options: {},
  examples: [
    'source <(kubelet-gitops completion bash)',
    'source <(kubelet-gitops completion zsh)',
    'kubelet-gitops completion fish | source',
  ],
  run: ({ words: [shell] }, io) => {
    const script = Object.entries(SHELLS).find(([name]) => name === shell)?.[1];
    if (script === undefined) throw new Mistake('completion needs the name of a shell: bash, zsh or fish');
    io.out.write(script(others));
    return Promise.resolve(0);
  },
});
