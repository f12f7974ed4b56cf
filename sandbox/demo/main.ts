import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { paintFor } from '#cli/paint.ts';
import { describeError, type Log } from '#shared/runtime/log.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { startWorld } from '../world.ts';
import { DEMO_NODES } from './nodes.ts';
import { createScreen } from './screen.ts';
import { tellStory } from './story.ts';
import { writeAddresses } from './addresses.ts';

const LOGS = '.kubelet-gitops';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
  await mkdir(LOGS, { recursive: true });
  const screen = createScreen(process.stdout, paintFor(process.stdout, process.env));
  const world = await startWorld({ cluster: 'demo', nodes: DEMO_NODES, log: fileLogs(), pollMs: 500 });
  const interrupted = new Promise<void>((resolve) => void process.once('SIGINT', resolve));
  try {
    await Promise.race([tellStory(world, screen), interrupted]);
    if (values.keep) {
      await writeAddresses(world, LOGS);
      screen.say(...invitation(world.git.url, (await world.pageUrl()) ?? '-'));
      await interrupted;
    }
    screen.say('', `The programs' logs are in ${LOGS}/.`);
  } finally {
    await world.stop();
  }
}

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

function invitation(gitUrl: string, pageUrl: string): readonly string[] {
  return [
    '',
    'Everything keeps running. Try it, in a second terminal; docs/tutorial.md goes on from here:',
    '',
    `  open ${pageUrl} in a browser               # the status page: pools, waves, nodes, live`,
    '',
    `  export KUBECONFIG=$PWD/${LOGS}/kubeconfig`,
    '  npx kubelet-gitops status                                 # or: kubectl get kpool,knode',
    '',
    `  git clone ${gitUrl} ../my-config && cd ../my-config && sh scripts/show-notes.sh`,
    '  edit pools/gpu/kubelet.yaml, then: git commit -a -m "My change" && git push',
    '  git fetch && git log -1                                   # what became of it',
    '',
    'Ctrl-C ends it.',
  ];
}

try {
  await main();
} catch (error) {
  process.stderr.write(`\ndemo: ${reasonOf(error)}\n`);
  process.exitCode = 1;
}
