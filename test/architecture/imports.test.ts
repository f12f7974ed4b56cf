import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

interface Rule {
  readonly files: string;
  /** No import in these files may match. */
  readonly never: RegExp;
  readonly because: string;
}

const HEAVY = String.raw`@kubernetes/client-node|isomorphic-git|undici|node-cron|prom-client|ajv(?:/|$)`;
const IMPURE = String.raw`node:(?:fs|http|https|net|child_process|timers|os)`;

const rules: readonly Rule[] = [
  { files: 'shared/contract/**/*.ts', never: /^#(?!shared\/)/, because: 'the contract depends on neither side' },
  { files: 'shared/**/*.ts', never: /^#(?:agent|reconciler|cli|sandbox)\//, because: 'dependencies point one way' },
  { files: 'agent/**/*.ts', never: /^#(?:reconciler|cli|sandbox)\//, because: 'dependencies point one way' },
  { files: 'reconciler/**/*.ts', never: /^#(?:agent|cli|sandbox)\//, because: 'dependencies point one way' },
  { files: 'cli/**/*.ts', never: /^#(?:agent|sandbox)\//, because: 'dependencies point one way' },
  { files: '{agent,shared}/**/*.ts', never: new RegExp(`^(?:${HEAVY})`), because: 'it costs memory on every node' },
  {
    files: '{agent/decide/*,reconciler/policy/*}.ts',
    never: new RegExp(`^${IMPURE}`),
    because: 'decisions are pure',
  },
  {
    files: 'reconciler/policy/{assign,rollout,materialise,window}/**/*.ts',
    never: new RegExp(`^${IMPURE}`),
    because: 'decisions are pure',
  },
  {
    files: 'reconciler/telling/page/{*,render/*}.ts',
    never: new RegExp(`^${IMPURE}`),
    because: 'a page is a pure function of what a round knows',
  },
  {
    files: 'reconciler/policy/repo/**/*.ts',
    never: new RegExp(`^${IMPURE}`),
    because: 'loading is a pure function of the files',
  },
];

const PURE = '{agent/decide/*,reconciler/policy/*}.ts';
const PURE_FOLDERS = '{shared/contract,reconciler/{policy,telling/page/render}}/**/*.ts';
const IMPORT = /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|import\('([^']+)'\)/g;

const importsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, from, lazily]) => from ?? lazily ?? '');

/** Comments may speak of what code may not do. */
const codeOf = (file: string): string => readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');

describe('the arrows between the folders', () => {
  for (const { files, never, because } of rules) {
    it(`${files} keeps away from ${never.source}: ${because}`, () => {
      const all = globSync(files);
      assert.ok(all.length > 0, `no file matches ${files}: the rule is out of date`);
      const wrong = all.flatMap((file) =>
        importsOf(file)
          .filter((from) => never.test(from))
          .map((from) => `${file} imports ${from}`),
      );
      assert.deepEqual(wrong, []);
    });
  }

  it('lets only a program’s own first file touch the process', () => {
    const files = globSync('{agent,reconciler,shared,cli,sandbox}/**/*.ts').filter(
      (file) => !/(?:^|\/)main\.ts$/.test(file),
    );
    assert.deepEqual(
      files.filter((file) => /\bprocess\.(?:env|exit|argv|on|stdout|stderr)\b/.test(codeOf(file))),
      [],
    );
  });

  it('lets no decision look at a clock or take a chance', () => {
    const files = [...globSync(PURE), ...globSync(PURE_FOLDERS)].filter((file) => !file.includes('.generated.'));
    assert.deepEqual(
      files.filter((file) => /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(/.test(codeOf(file))),
      [],
    );
  });
});
