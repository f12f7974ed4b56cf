import type { Command } from '../command.ts';

/** The demo, which ends when it has told its story; with `keep`, on an interrupt. It writes to the terminal itself. */
export type RunDemo = (options: {
  readonly keep: boolean;
  /** Who is told of the story besides. */
  readonly notificationsFile?: string | undefined;
}) => Promise<void>;

/** A program of its own, above the command line, and loaded by this command only. In the package, it lies beside ours. */
const PROGRAM = new URL(import.meta.url.endsWith('.ts') ? '../../sandbox/demo/main.ts' : './demo.js', import.meta.url);

export const DEMO: Command = {
  name: 'demo',
  summary: 'shows the whole system at work on simulated nodes; needs git and no cluster',
  mostWords: 0,
  about: [
    'One process holds a git repository, an API server, the reconciler, and an agent for each of six simulated nodes. In about\n' +
      'a minute it shows how good and bad commits fare. Its logs go to .kubelet-gitops in the current directory.',
  ],
  options: {
    keep: { type: 'boolean', about: 'go on afterwards, and print how to push to it, until it is interrupted' },
    notifications: {
      type: 'string',
      value: 'FILE',
      about: 'tell its receivers, such as your chat, what they would hear (docs/notifications.md)',
    },
  },
  examples: ['kubelet-gitops demo', 'kubelet-gitops demo --keep'],
  run: async (given) => {
    const { demo } = (await import(PROGRAM.href)) as { readonly demo: RunDemo };
    await demo({ keep: given.flag('keep'), notificationsFile: given.text('notifications') });
    return 0;
  },
};
