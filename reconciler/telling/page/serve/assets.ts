import { readFile } from 'node:fs/promises';
import { etagOf } from '../etag.ts';

/** A file that is served as it is. */
export interface Asset {
  readonly body: Buffer;
  readonly contentType: string;
  readonly etag: string;
}

const FILES = [
  { path: '/style.css', file: 'page.css', contentType: 'text/css; charset=utf-8' },
  { path: '/content.css', file: 'page-content.css', contentType: 'text/css; charset=utf-8' },
  { path: '/live.js', file: 'page.js', contentType: 'text/javascript; charset=utf-8' },
  { path: '/icon.svg', file: 'page.svg', contentType: 'image/svg+xml' },
];

/** The page's own files by path; they lie beside this one, and beside the program in the image. */
export async function readAssets(): Promise<ReadonlyMap<string, Asset>> {
  const read = FILES.map(async ({ path, file, contentType }): Promise<[string, Asset]> => {
    const body = await readFile(new URL(`./${file}`, import.meta.url));
    return [path, { body, contentType, etag: etagOf(body) }];
  });
  return new Map(await Promise.all(read));
}
