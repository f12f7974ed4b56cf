import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';

/** Folder, two names deep, to lines of code: all that lie below it and in no deeper row. */
const TABLE = new URL('budget.json', import.meta.url);
const FOLDERS = ['agent', 'bench', 'cli', 'reconciler', 'sandbox', 'scripts', 'shared', 'test'];

/** Lines that are neither blank nor comment. */
function linesOfCode(text: string, file: string): number {
  const isScript = /\.(?:ts|m?js|cjs)$/.test(file);
  const code = isScript ? text.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, '') : text;
  const comment = isScript ? '//' : '#';
  return code.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith(comment)).length;
}

function counted(): Readonly<Record<string, number>> {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...FOLDERS];
  const files = execFileSync('git', listed, { encoding: 'utf8', maxBuffer: 1e8 })
    .split('\0')
    .filter((file) => /\.(?:ts|[cm]?js|sh|py)$/.test(file) && !file.includes('.generated.') && existsSync(file));
  const sums: Record<string, number> = {};
  for (const file of files) {
    const folder = file.split('/').slice(0, -1).slice(0, 2).join('/');
    sums[folder] = (sums[folder] ?? 0) + linesOfCode(readFileSync(file, 'utf8'), file);
  }
  return Object.fromEntries(Object.entries(sums).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

it('no folder has more lines of code than its budget (UPDATE_BUDGET=1 writes what there is)', () => {
  const lines = counted();
  if (process.env['UPDATE_BUDGET'] === '1') writeFileSync(TABLE, `${JSON.stringify(lines, undefined, 2)}\n`);
  const budget = JSON.parse(readFileSync(TABLE, 'utf8')) as Readonly<Record<string, number>>;
  const over = Object.entries(lines)
    .filter(([folder, count]) => count > (budget[folder] ?? 0))
    .map(
      ([folder, count]) =>
        `${folder} has ${count} lines of code, and ${budget[folder] ?? 'no'} in test/architecture/budget.json: ` +
        'raise it in the same commit, and say in the commit what a user gets for it',
    );
  assert.deepEqual(over, []);
  assert.deepEqual(
    Object.keys(budget).filter((folder) => !(folder in lines)),
    [],
    'folders of the budget that are gone',
  );
});
