import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Key } from 'openpgp';
import { codeOf, GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { type AllowedSigner, readAllowedSigners } from './allowed-signers.ts';
import { readOpenPgpKeys } from './verify-openpgp.ts';

/** Whose signatures count. */
export interface TrustedKeys {
  readonly ssh: readonly AllowedSigner[];
  readonly openPgp: readonly Key[];
  /** Entries that allow no signer, and why: a sentence each. */
  readonly unusable: readonly string[];
}

const OPENPGP = /\.(?:asc|gpg|pgp)$/i;
const MOST_FILES = 100;
const LARGEST_FILE = 1024 * 1024;

/**
 * Reads the directory as it is now, and takes it apart again only when something in it changed. `*.asc`, `*.gpg` and `*.pgp` are
 * OpenPGP keys; every other file is one of allowed signers. Files that begin with a dot are left out: mounted Secrets have such.
 */
export function trustedKeysIn(directory: string): () => Promise<TrustedKeys> {
  let present: { readonly digest: string; readonly keys: TrustedKeys } | undefined;
  return async () => {
    const files = await readFiles(directory);
    const hash = createHash('sha256');
    for (const [name, bytes] of files) hash.update(`${name} ${bytes.length}\n`).update(bytes);
    const digest = hash.digest('hex');
    if (present?.digest !== digest) present = { digest, keys: await readAll(files) };
    return present.keys;
  };
}

type Files = readonly (readonly [name: string, bytes: Buffer])[];

/** @throws GitopsError `TRUSTED_KEYS_UNREADABLE` */
async function readFiles(directory: string): Promise<Files> {
  const unreadable = (why: string): GitopsError =>
    new GitopsError('TRUSTED_KEYS_UNREADABLE', `the directory of trusted keys ${directory} cannot be used: ${why}`);
  try {
    const names = (await readdir(directory)).filter((name) => !name.startsWith('.')).sort();
    if (names.length > MOST_FILES) throw unreadable(`it holds more than ${MOST_FILES} files`);
    const files: [string, Buffer][] = [];
    for (const name of names) {
      const bytes = await readFile(join(directory, name));
      if (bytes.length > LARGEST_FILE) throw unreadable(`${name} is larger than ${LARGEST_FILE} bytes`);
      files.push([name, bytes]);
    }
    return files;
  } catch (error) {
    if (error instanceof GitopsError) throw error;
    throw unreadable(codeOf(error) ?? 'for an unknown reason');
  }
}

async function readAll(files: Files): Promise<TrustedKeys> {
  const ssh: AllowedSigner[] = [];
  const openPgp: Key[] = [];
  const unusable: string[] = [];
  for (const [name, bytes] of files) {
    if (!OPENPGP.test(name)) {
      const read = readAllowedSigners(bytes.toString('utf8'));
      ssh.push(...read.signers);
      unusable.push(...read.unusable.map((why) => `${name}, ${why}`));
      continue;
    }
    try {
      openPgp.push(...(await readOpenPgpKeys(bytes)));
    } catch (error) {
      unusable.push(`${name}: it is not a file of OpenPGP public keys (${reasonOf(error)})`);
    }
  }
  return { ssh, openPgp, unusable };
}
