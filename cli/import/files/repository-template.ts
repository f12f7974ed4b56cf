import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { programFile } from '../../program-files.ts';

/** What a team copies of the template beside its pools. */
const TEMPLATE_FILES = [
  'README.md',
  'CODEOWNERS',
  '.github/workflows/kubelet-config.yaml',
  '.gitlab-ci.yml',
  'scripts/publish-inventory.sh',
  'scripts/show-notes.sh',
] as const;

/** What speaks of the template's own example. */
const OF_THE_EXAMPLE = /^- `(?:clusters\/demo\.yaml|base\/common\.yaml)`/;

/**
 * The template's own files, made to speak of this cluster and these pools: path → text.
 *
 * @throws GitopsError `TEMPLATE_MISSING`
 */
export async function templateFiles(cluster: string, pools: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const root = programFile('config-repo-template');
  const texts = await Promise.all(TEMPLATE_FILES.map((path) => readFile(join(root, path), 'utf8')));
  return new Map(TEMPLATE_FILES.map((path, index) => [path, adapt(path, texts[index] ?? '', cluster, pools)]));
}

/** Schemas for editors: path → text. @param names of files in `schemas/` */
export async function schemaFiles(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const root = programFile('schemas');
  const texts = await Promise.all(names.map((name) => readFile(join(root, name), 'utf8')));
  return new Map(names.map((name, index) => [`.schemas/${name}`, texts[index] ?? '']));
}

function adapt(path: string, text: string, cluster: string, pools: readonly string[]): string {
  const lines = text.split('\n');
  switch (path) {
    case 'CODEOWNERS':
      return lines
        .filter((line) => !isOfOtherPool(line, pools))
        .join('\n')
        .replaceAll(/\n{3,}/g, '\n\n');
    case 'README.md':
      return lines
        .filter((line) => !OF_THE_EXAMPLE.test(line))
        .join('\n')
        .replaceAll(/(--cluster |publish-inventory\.sh )demo\b/g, `$1${cluster}`);
    default:
      return text;
  }
}

function isOfOtherPool(line: string, pools: readonly string[]): boolean {
  const [, pool] = /^\/pools\/([^/]+)\//.exec(line) ?? [];
  return pool !== undefined && !pools.includes(pool);
}
