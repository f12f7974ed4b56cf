import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import type { RunDemo } from '#cli/demo/command.ts';
import { paintFor } from '#cli/paint.ts';
import { loadReceivers } from '#reconciler/reporting/notifications/receivers.ts';
import { programFile } from '#cli/program-files.ts';
import { describeError, type Log } from '#shared/runtime/log.ts';
import { startSandbox } from '../sandbox.ts';
import { DEMO_NODES } from './demo-nodes.ts';
import { createScreen } from './screen.ts';
import { runDemo } from './run-demo.ts';
import { removeAddresses, writeAddresses } from './addresses.ts';

const LOGS = '.kubelet-gitops';

/** What `kubelet-gitops demo` runs. */
export const demo: RunDemo = async ({ keep, notificationsFile }) => {
  // What is wrong with it is said before anything is made.
  if (notificationsFile !== undefined) loadReceivers(notificationsFile);
  await mkdir(LOGS, { recursive: true });
  const screen = createScreen(process.stdout, paintFor(process.stdout, process.env));
  const world = await startSandbox({
    cluster: 'demo',
    nodes: DEMO_NODES,
    log: fileLogs(),
    pollMs: 500,
    ...(notificationsFile === undefined ? {} : { notificationsFile }),
  });
  const stop = new AbortController();
  const interrupted = new Promise<void>((resolve) => {
    // Again and again: bin.js under an older Node hands on what this process got already.
    process.on('SIGINT', () => {
      stop.abort();
      resolve();
    });
  });
  try {
    await Promise.race([runDemo(world, screen, stop.signal), interrupted]);
    if (keep && !stop.signal.aborted) {
      await writeAddresses(world, LOGS);
      screen.say(...invitation(world.git.url, (await world.pageUrl()) ?? '-'));
      await interrupted;
    }
    screen.say('', `The programs' logs are in ${LOGS}/.`);
    if (!keep) screen.say(`Go on by yourself: npx kubelet-gitops demo --keep, and ${programFile('docs/tutorial.md')}.`);
  } finally {
    await removeAddresses(LOGS);
    await world.stop();
  }
};

/** The logs of the programs, one file each, as they would come out of their pods. */
function fileLogs(): (program: string) => Log {
  const logs = new Map<string, Log>();
  return (program) => {
    const stream = createWriteStream(join(LOGS, `${program}.log`));
    const fresh = (): Log =>
      pino(
        { base: { program }, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
        stream,
      );
    const log = logs.get(program) ?? fresh();
    logs.set(program, log);
    return log;
  };
}

/** Nothing in it is wider than 80 columns, so that it can be copied from any terminal. */
function invitation(gitUrl: string, pageUrl: string): readonly string[] {
  return [
    '',
    'Everything keeps running. Go on in a second terminal, in this directory;',
    'the tutorial explains each step:',
    `  ${programFile('docs/tutorial.md')}`,
    '',
    '  # State, live, in a browser:',
    `  ${pageUrl}`,
    '',
    '  # The same here; kubectl get kpool,knode works as well:',
    `  export KUBECONFIG=$PWD/${LOGS}/kubeconfig`,
    '  npx kubelet-gitops status',
    '',
    '  # Change something: edit ../my-config/pools/gpu/kubelet.yaml, and push it.',
    `  git clone ${gitUrl} ../my-config`,
    '  (cd ../my-config && sh scripts/show-notes.sh)',
    '  git -C ../my-config commit -a -m "My change" && git -C ../my-config push',
    '  npx kubelet-gitops status --watch --commit $(git -C ../my-config rev-parse @)',
    '',
    '  # What became of it stands on the commit:',
    '  git -C ../my-config fetch && git -C ../my-config log -1',
    '',
    'Ctrl-C ends it.',
  ];
}
