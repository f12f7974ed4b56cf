import { styleText } from 'node:util';

export type Tone = 'good' | 'busy' | 'bad' | 'quiet' | 'strong';

/** Gives text a tone on a terminal, and leaves it as it is elsewhere. */
export type Paint = (tone: Tone, text: string) => string;

const STYLES = { good: 'green', busy: 'yellow', bad: 'red', quiet: 'gray', strong: 'bold' } as const;

export const plain: Paint = (_, text) => text;

/** Colours where the stream is a terminal and NO_COLOR is not set (https://no-color.org), or FORCE_COLOR asks for them. */
export function paintFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  const force = env['FORCE_COLOR'];
  const isForced = force !== undefined && force !== '0' && force !== 'false';
  const wanted = (stream.isTTY === true || isForced) && (env['NO_COLOR'] ?? '') === '';
  return wanted ? (tone, text) => styleText(STYLES[tone], text, { validateStream: false }) : plain;
}
