import { readFile } from 'node:fs/promises';
import { codeOf } from '#shared/runtime/errors.ts';
import { ForgeError } from './errors.ts';

/**
 * The token as it is now, so that a changed Secret is used at the next call.
 *
 * @throws ForgeError `FORGE_TOKEN_UNREADABLE`
 */
export function fileToken(file: string): () => Promise<string> {
  const unreadable = (why: string): ForgeError =>
    new ForgeError('FORGE_TOKEN_UNREADABLE', `the file with the forge's token ${file} ${why}`, {
      disposition: { kind: 'stalled', until: 'operator' },
    });
  return async () => {
    let text: string;
    try {
      text = (await readFile(file, 'utf8')).trim();
    } catch (error) {
      throw unreadable(`cannot be read (${codeOf(error) ?? 'for an unknown reason'})`);
    }
    if (text === '') throw unreadable('is empty');
    if (!/^[\x21-\x7e]+$/.test(text)) throw unreadable('holds more than a token: blanks or line breaks');
    return text;
  };
}
