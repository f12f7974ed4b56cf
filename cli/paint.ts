import { styleText } from 'node:util';

export type Tone = 'good' | 'busy' | 'bad' | 'quiet' | 'strong';

/** Gives text a tone on a terminal, and leaves it as it is elsewhere. */
export type Paint = (tone: Tone, text: string) => string;

const STYLES = { good: 'green', busy: 'yellow', bad: 'red', quiet: 'gray', strong: 'bold' } as const;

export const plain: Paint = (_, text) => text;

/** Colours where the stream is a terminal and NO_COLOR is not set (https://no-color.org). */
export function paintFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  const wanted = stream.isTTY === true && (env['NO_COLOR'] ?? '') === '';
  return wanted ? (tone, text) => styleText(STYLES[tone], text, { validateStream: false }) : plain;
}
