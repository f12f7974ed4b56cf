import { readFile } from 'node:fs/promises';
import { codeOf } from '#shared/runtime/errors.ts';
import { NotificationError } from './errors.ts';
import type { Receiver } from './receivers.ts';

/** A key that is shorter is easily guessed. */
const SHORTEST_KEY = 16;

/**
 * The receiver's address as it is now. What the file holds is in no error.
 *
 * @throws NotificationError `NOTIFICATION_SECRET_UNUSABLE`
 */
export async function readAddress({ name, urlFile, plainHttp }: Receiver): Promise<URL> {
  const text = (await readLine(name, 'urlFile', urlFile)).trim();
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw unusable(name, 'urlFile', urlFile, 'holds no address');
  if (url.username !== '' || url.password !== '')
    throw unusable(name, 'urlFile', urlFile, 'holds an address with a user in it, which is not sent');
  if (url.protocol === 'http:' && !plainHttp)
    throw unusable(name, 'urlFile', urlFile, 'holds an address of http: write https://, or set plainHttp');
  return url;
}

/** The key that signs; null for a receiver that has none. @throws NotificationError `NOTIFICATION_SECRET_UNUSABLE` */
export async function readKey({ name, keyFile }: Receiver): Promise<string | null> {
  if (keyFile === undefined) return null;
  const key = await readLine(name, 'keyFile', keyFile);
  if (key.length >= SHORTEST_KEY) return key;
  const how = `holds a key of less than ${SHORTEST_KEY} characters: make one with openssl rand -hex 32`;
  throw unusable(name, 'keyFile', keyFile, how);
}

type What = 'urlFile' | 'keyFile';

/** The first line that says something, as it is: the other side signs with the blanks of a key as well. */
async function readLine(name: string, what: What, file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw unusable(name, what, file, `cannot be read (${codeOf(error) ?? 'for an unknown reason'})`);
  }
  const line = text.split(/\r?\n/).find((each) => each.trim() !== '');
  if (line === undefined) throw unusable(name, what, file, 'is empty');
  return line;
}

const unusable = (name: string, what: What, file: string, why: string): NotificationError =>
  new NotificationError('NOTIFICATION_SECRET_UNUSABLE', `the ${what} ${file} of the receiver ${name} ${why}`);
