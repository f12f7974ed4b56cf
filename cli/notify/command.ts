import { loadReceivers, type Receivers } from '#reconciler/reporting/notifications/receivers.ts';
import { sendTests } from '#reconciler/reporting/notifications/send-tests.ts';
import { readProxySettings } from '#shared/http/proxy.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { wrapFor } from '../wrap.ts';

export const NOTIFY: Command = {
  name: 'notify',
  summary: 'sends a test message to the receivers of notifications in a file; needs no cluster',
  takes: 'FILE',
  mostWords: 1,
  about: [
    'Reads a file of NotificationReceivers, and the files with addresses and keys that it names, as the reconciler does, and sends\n' +
      'each receiver a message that says it is a test. Whether the cluster reaches them as well is asked there:\n' +
      'docs/notifications.md says how.',
    'Exit code 1 where a receiver did not take it.',
  ],
  options: {
    receiver: { type: 'string', multiple: true, value: 'NAME', about: 'only this one; may be repeated' },
    cluster: { type: 'string', value: 'NAME', about: 'whose name the message has; default: test' },
  },
  examples: ['kubelet-gitops notify receivers.yaml', 'kubelet-gitops notify receivers.yaml --receiver on-call'],
  run: runNotify,
};

async function runNotify(given: Given, io: Io): Promise<ExitCode> {
  const [file] = given.words;
  if (file === undefined) throw new UsageError('notify needs a file of NotificationReceivers');
  const proxy = readProxySettings(
    (name) => io.env[name],
    (message) => {
      throw new UsageError(message);
    },
  );
  const chosen = choose(loadReceivers(file), given.texts('receiver'));
  const tested = await sendTests(chosen, { cluster: given.text('cluster') ?? 'test', proxy, clock: systemClock });
  io.out.write(wrapFor(io.out)(tested.map(({ line }) => `${line}\n`).join('')));
  return tested.every(({ isSent }) => isSent) ? 0 : 1;
}

/** Those of these names, or all. */
function choose({ receivers, ...rest }: Receivers, names: readonly string[]): Receivers {
  const known = receivers.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new UsageError(`no receiver is called ${unknown}: there are ${known.join(', ')}`);
  return { ...rest, receivers: receivers.filter(({ name }) => names.length === 0 || names.includes(name)) };
}
