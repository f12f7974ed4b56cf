import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDocument } from 'yaml';

/** Spans of the sandbox: what takes minutes on real nodes takes seconds here. */
export const SHORTENED = { trial: '3s', startTimeout: '4s', maxRestarts: 1, soak: '1s' } as const;

const TEMPLATE = fileURLToPath(new URL('../../config-repo-template', import.meta.url));

/** The files of config-repo-template, with trials and soaks shortened so that a story takes a minute and not an hour. */
export async function templateFiles(): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(TEMPLATE, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = relative(TEMPLATE, join(entry.parentPath, entry.name)).replaceAll('\\', '/');
    const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
    files[path] = path.endsWith('/pool.yaml') ? shorten(text) : text;
  }
  return files;
}

function shorten(text: string): string {
  const pool = parseDocument(text);
  pool.setIn(['spec', 'rollout', 'soak'], SHORTENED.soak);
  pool.setIn(['spec', 'trial', 'duration'], SHORTENED.trial);
  pool.setIn(['spec', 'trial', 'startTimeout'], SHORTENED.startTimeout);
  pool.setIn(['spec', 'trial', 'maxRestarts'], SHORTENED.maxRestarts);
  return pool.toString();
}

/** A KubeletConfiguration file with fields set, comments kept: the edit that a person would make. */
export function withFields(text: string, fields: Readonly<Record<string, unknown>>): string {
  const config = parseDocument(text);
  for (const [field, value] of Object.entries(fields)) config.set(field, value);
  return config.toString();
}
