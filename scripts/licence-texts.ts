import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** `node_modules/undici` for `node_modules/undici/lib/core/util.js`. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

/**
 * The notices that licences ask for to go along with a bundle: of every package that something of is in it, and of no
 * other.
 *
 * @param inputs paths of the files that went into bundles
 */
export async function licenceTexts(inputs: readonly string[]): Promise<string> {
  const directories = new Set(inputs.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []));
  const texts = await Promise.all([...directories].toSorted().map(noticeOf));
  return `What this software is made of besides its own code, and under which terms.\n\n${texts.join('\n')}`;
}

async function noticeOf(directory: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
  };
  const files = (await readdir(directory)).filter((file) => /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i.test(file));
  const texts = await Promise.all(files.toSorted().map((file) => readFile(join(directory, file), 'utf8')));
  const terms = texts.length === 0 ? 'Its package has no text of the licence in it.\n' : texts.join('\n');
  return `==== ${name} ${version} (${license ?? 'no licence named'})\n\n${terms.trimEnd()}\n`;
}
