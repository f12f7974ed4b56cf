import type { Paint, Tone } from '#cli/paint.ts';
import { DEMO_NODES } from '#sandbox/demo/demo-nodes.ts';
import { runDemo } from '#sandbox/demo/run-demo.ts';
import { startSandbox } from '#sandbox/sandbox.ts';
import { silentLog } from '#shared/runtime/log.ts';
import type { Piece } from './draw-terminal.ts';

/** Around a painted piece, its tone by number between the two; no program prints these. */
const [BEGIN, END] = ['\u0002', '\u0003'];
const TONES: readonly Tone[] = ['good', 'busy', 'bad', 'quiet', 'strong'];

const paint: Paint = (tone, text) => `${BEGIN}${TONES.indexOf(tone)}${text}${END}`;

/** What `npm run demo` says, line by line, from one heading to before another. */
export async function readDemoOutput(from: RegExp, to: RegExp): Promise<readonly (readonly Piece[])[]> {
  const said: string[] = [];
  const world = await startSandbox({ cluster: 'demo', nodes: DEMO_NODES, log: () => silentLog, pollMs: 500 });
  try {
    await runDemo(world, {
      paint,
      columns: () => undefined,
      say: (...lines) => void said.push(...lines.flatMap((line) => line.split('\n'))),
      live: () => undefined,
      settle: () => undefined,
    });
  } finally {
    await world.stop();
  }
  const lines = said.map(piecesOf);
  const place = (heading: RegExp): number =>
    lines.findIndex((line) => heading.test(line.map(({ text }) => text).join('')));
  return lines.slice(place(from), place(to) - 1);
}

function piecesOf(line: string): readonly Piece[] {
  return line
    .split(BEGIN)
    .flatMap((part, index): readonly Piece[] => {
      if (index === 0) return [{ tone: '', text: part }];
      const [painted = '', rest = ''] = part.split(END);
      return [
        { tone: TONES[Number(painted[0])] ?? '', text: painted.slice(1) },
        { tone: '', text: rest },
      ];
    })
    .filter(({ text }) => text !== '');
}
