import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { circles, type Import, importsOf, loadedWith, sourceFiles } from './support/import-graph.ts';

interface Floor {
  readonly folders: readonly string[];
  /** It decides and does nothing else. */
  readonly pure: boolean;
}

/** The table of ARCHITECTURE.md, the highest floor first. */
const FLOORS: readonly Floor[] = readFileSync('ARCHITECTURE.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| (?:`[\w/-]+`(?:, )?)+ \| .* \| (?:pure)? ?\|$/.test(line))
  .map((line) => {
    const [, first = '', , effects = ''] = line.split('|');
    return {
      folders: [...first.matchAll(/`([\w/-]+)`/g)].map(([, folder = '']) => folder),
      pure: /pure/.test(effects),
    };
  });

const PROGRAMS = ['agent', 'cli', 'reconciler', 'sandbox', 'shared'] as const;
const FILES = PROGRAMS.flatMap(sourceFiles);
const IMPORTS = importsOf(FILES);

/** The floor of a file: that of the longest folder that holds it. -1 where it has none. */
function floorOf(file: string, floors: readonly Floor[]): number {
  const holding = floors.flatMap(({ folders }, at) =>
    folders.filter((folder) => file.startsWith(`${folder}/`)).map((folder) => ({ at, length: folder.length })),
  );
  return holding.sort((one, other) => other.length - one.length)[0]?.at ?? -1;
}

/** The imports that lead to a higher floor, or to another folder of the same one. */
function upward(imports: readonly Pick<Import, 'file' | 'to'>[], floors: readonly Floor[]): readonly string[] {
  const folderOf = (file: string): string | undefined =>
    floors[floorOf(file, floors)]?.folders.find((folder) => file.startsWith(`${folder}/`));
  return imports
    .filter(({ file, to }) => {
      const from = floorOf(file, floors);
      const target = floorOf(to, floors);
      return target >= 0 && (target < from || (target === from && folderOf(file) !== folderOf(to)));
    })
    .map(({ file, to }) => `${file} imports ${to}`);
}

describe('the floors', () => {
  it('hold every file of ours, and every folder of the table exists', () => {
    assert.ok(FLOORS.length > 10, 'the table of ARCHITECTURE.md was not found');
    assert.deepEqual(
      FLOORS.flatMap(({ folders }) => folders).filter((folder) => !existsSync(folder)),
      [],
    );
    const parts = FILES.filter((file) => /^(?:agent|reconciler|shared)\/.+\//.test(file));
    const known = new Set(FLOORS.flatMap(({ folders }) => folders));
    assert.deepEqual(
      [...new Set(parts.map((file) => file.split('/').slice(0, 2).join('/')))].filter((folder) => !known.has(folder)),
      [],
    );
    assert.deepEqual(
      FILES.filter((file) => floorOf(file, FLOORS) < 0 && dirname(file) !== 'shared'),
      [],
    );
  });

  it('let a folder import only what lies below it', () => {
    assert.ok(IMPORTS.length > 2000, 'the imports were not found');
    assert.deepEqual(upward(IMPORTS, FLOORS), []);
  });

  it('have no circle in any folder', () => {
    assert.deepEqual(circles(IMPORTS), []);
  });

  const floors: readonly Floor[] = [
    { folders: ['a'], pure: false },
    { folders: ['a/high', 'a/beside'], pure: false },
    { folders: ['a/low'], pure: true },
  ];
  const planted = [
    ['an import of a lower floor', 'a/high/x.ts', 'a/low/y.ts', 0],
    ['an import within a folder', 'a/high/x.ts', 'a/high/y.ts', 0],
    ['an import of a higher floor', 'a/low/x.ts', 'a/high/y.ts', 1],
    ['an import of the program from its own folder', 'a/low/x.ts', 'a/main.ts', 1],
    ['an import of another folder of the same floor', 'a/high/x.ts', 'a/beside/y.ts', 1],
  ] as const;
  for (const [what, file, to, found] of planted) {
    it(`${found === 0 ? 'allow' : 'refuse'} ${what}`, () => {
      assert.equal(upward([{ file, to }], floors).length, found);
    });
  }

  it('see a circle of files, of folders, and of a file and the folder of its name', () => {
    const arrow = (file: string, to: string) => ({ file, to });
    assert.deepEqual(circles([arrow('a/x.ts', 'a/y.ts'), arrow('a/y.ts', 'a/z.ts')]), []);
    assert.deepEqual(circles([arrow('a/x.ts', 'a/y.ts'), arrow('a/y.ts', 'a/x.ts')]), ['a/x', 'a/y']);
    assert.deepEqual(circles([arrow('a/b/x.ts', 'a/c/x.ts'), arrow('a/c/y.ts', 'a/b/y.ts')]), ['a/b', 'a/c']);
    assert.deepEqual(circles([arrow('a/b.ts', 'a/c.ts'), arrow('a/c.ts', 'a/b/x.ts')]), ['a/b', 'a/c']);
  });
});

/** What a pure floor may load that is not ours: each computes a value from values. */
const PURE_MODULES: ReadonlySet<string> = new Set([
  '@marcbachmann/cel-js',
  'node:util',
  'node-cron',
  'node:crypto',
  'node:buffer',
]);
/** What ajv made of a schema: it loads nothing, and cannot reach anything either. */
const isJudge = (file: string): boolean =>
  file.endsWith('.generated.js') &&
  !/(?:^|[;\n}])import[\s{*("']|\bimport\(/.test(codeOf(file)) &&
  !IMPURE.test(codeOf(file));

/** Of the clock's file, what computes and what is a type of a value. */
const PURE_NAMES_OF_CLOCK: ReadonlySet<string> = new Set(['Millis', 'toTimestamp', 'fromTimestamp']);

/** Comments may speak of what code may not do. */
const codeOf = (file: string): string => readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
const IMPURE =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bset(?:Timeout|Interval|Immediate)\(|\bprocess\.|\bperformance\.|\brandomUUID\b|\bfetch\(/;

describe('the pure floors', () => {
  const pure = FLOORS.filter((floor) => floor.pure).flatMap(({ folders }) => folders);
  const files = pure.flatMap(sourceFiles);

  it('are the policy of the reconciler and the decisions of the agent, and what both rest on', () => {
    for (const folder of ['reconciler/policy', 'agent/decide', 'shared/contract']) assert.ok(pure.includes(folder));
  });

  it('import no module of Node, no clock and no client', () => {
    const decisions = IMPORTS.filter(({ file }) => /^(?:reconciler\/policy|agent\/(?:decide|ports))\//.test(file));
    assert.ok(decisions.length > 300);
    const wrong = decisions.filter(({ to, names }) => {
      if (to === 'node:util') return !names.every((name) => name === 'isDeepStrictEqual as equal');
      if (/^(?:node:|shared\/(?:http|kube)\/)/.test(to)) return true;
      return to === 'shared/runtime/clock.ts' && !names.every((name) => PURE_NAMES_OF_CLOCK.has(name));
    });
    assert.deepEqual(
      wrong.map(({ file, to, names }) => `${file} imports ${names.join(', ')} of ${to}`),
      [],
    );
  });

  it('load nothing that could do more than compute', () => {
    const wrong = files.flatMap((file) =>
      [...loadedWith(file, IMPORTS)]
        .filter(([to]) => !FILES.includes(to) && !PURE_MODULES.has(to) && !isJudge(to))
        .map(([to, by]) => `${file} loads ${to} by way of ${by}`),
    );
    assert.deepEqual([...new Set(wrong)], []);
  });

  it('look at no clock and take no chance', () => {
    assert.deepEqual(
      files.filter((file) => !file.includes('.generated.') && IMPURE.test(codeOf(file))),
      [],
    );
  });
});
