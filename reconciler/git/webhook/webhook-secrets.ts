import { readFile } from 'node:fs/promises';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';

/** The secrets that senders prove to know, as they are now. */
export type WebhookSecrets = () => Promise<readonly string[]>;

const SHORTEST = 16;
const MOST = 8;

/**
 * Secrets from a file, a line each, read at every use: a Secret that is changed counts at once, and two lines let both the
 * old and the new one in meanwhile.
 *
 * @throws GitopsError `WEBHOOK_SECRET_UNUSABLE` where the file cannot be read, is empty, or holds what is easily guessed
 */
export function fileSecrets(file: string): WebhookSecrets {
  const unusable = (why: string, cause?: unknown): GitopsError =>
    new GitopsError('WEBHOOK_SECRET_UNUSABLE', `the file of webhook secrets ${file} ${why}`, {
      cause,
    });
  return async () => {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (error) {
      throw unusable(`cannot be read (${codeOf(error) ?? 'for an unknown reason'})`);
    }
    const secrets = text.split(/\r?\n/).filter((line) => line !== '');
    if (secrets.length === 0) throw unusable('is empty');
    if (secrets.length > MOST) throw unusable(`holds more than ${MOST} lines: one secret a line`);
    if (secrets.some((secret) => secret.length < SHORTEST)) {
      throw unusable(`holds a secret of less than ${SHORTEST} characters: make one with openssl rand -hex 32`);
    }
    return secrets;
  };
}
