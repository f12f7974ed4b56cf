import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';

interface Row {
  readonly folder: string;
  readonly mayImport: string;
}

/** The table "Where what lives". */
const ROWS: readonly Row[] = readFileSync('ARCHITECTURE.md', 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, folder, mayImport] = /^\| `([\w/-]+)` \|.*\| ([^|]*) \|$/.exec(line) ?? [];
    return folder !== undefined && mayImport !== undefined && existsSync(folder) ? [{ folder, mayImport }] : [];
  });

const IMPORT = /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|import\('([^']+)'\)/g;

/** Where the imports of a folder lead, from the root; what is no file of ours is left out. */
const importsOf = (folder: string): readonly string[] =>
  globSync(`${folder}/**/*.ts`).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(IMPORT)].flatMap(([, from, lazily]) => {
      const written = from ?? lazily ?? '';
      if (written.startsWith('#')) return [written.slice(1)];
      return written.startsWith('.') ? [normalize(join(dirname(file), written))] : [];
    }),
  );

describe('the folders in ARCHITECTURE.md', () => {
  it('are all there are in the two programs, but for those of a step of the loop', () => {
    const folders = globSync('{reconciler,agent}/*/').map((folder) => folder.replace(/\/$/, ''));
    assert.ok(folders.length > 20, 'the programs are elsewhere');
    const missing = folders.filter(
      (folder) => !existsSync(`${folder}.ts`) && !ROWS.some((row) => row.folder === folder),
    );
    assert.deepEqual(missing, []);
  });

  it('import nothing of ours but shared where it says so', () => {
    const strict = ROWS.filter(({ folder, mayImport }) => mayImport === '`shared`' && folder.includes('/'));
    assert.ok(strict.length >= 6);
    for (const { folder } of strict) {
      const wrong = importsOf(folder).filter((path) => !path.startsWith('shared/') && !path.startsWith(`${folder}/`));
      assert.deepEqual(wrong, [], folder);
    }
  });
});
