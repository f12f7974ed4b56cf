import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { importsOf } from './support/import-graph.ts';

interface Rule {
  readonly files: string;
  /** No import in these files may match. */
  readonly never: RegExp;
  readonly because: string;
}

const HEAVY = String.raw`@kubernetes/client-node|@marcbachmann/cel-js|isomorphic-git|undici|node-cron|prom-client|ajv(?:/|$)`;
const IMPURE = String.raw`node:(?:fs|http|https|net|child_process|timers|os)`;

const rules: readonly Rule[] = [
  { files: 'shared/**/*.ts', never: /^(?:agent|reconciler|cli|sandbox)\//, because: 'dependencies point one way' },
  { files: 'agent/**/*.ts', never: /^(?:reconciler|cli|sandbox)\//, because: 'dependencies point one way' },
  { files: 'reconciler/**/*.ts', never: /^(?:agent|cli|sandbox)\//, because: 'dependencies point one way' },
  { files: 'cli/**/*.ts', never: /^(?:agent|sandbox)\//, because: 'dependencies point one way' },
  {
    files: '{agent,shared}/**/*.ts',
    never: new RegExp(`^(?:${HEAVY}|yaml$)`),
    because: 'it costs memory on every node',
  },
  {
    files: 'reconciler/reporting/status-page/{*,render/*}.ts',
    never: new RegExp(`^${IMPURE}`),
    because: 'a page is a pure function of what a round knows',
  },
  {
    files: 'cli/simulate/fleet/**/*.ts',
    never: /^(?!cli\/simulate\/fleet\/|shared\/|reconciler\/policy\/(?:fleet|steps)\.ts$)/,
    because: 'what plays nodes must not decide for them as the planner does',
  },
  {
    files: 'test/support/proof/**/*.ts',
    never: /^reconciler\/policy\/(?:rollout|proof)\//,
    because: 'what judges the planner must not share its mistakes',
  },
];

/** Comments may speak of what code may not do. */
const codeOf = (file: string): string => readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');

describe('the arrows between the folders', () => {
  for (const { files, never, because } of rules) {
    it(`${files} keeps away from ${never.source}: ${because}`, () => {
      const all = globSync(files);
      assert.ok(all.length > 0, `no file matches ${files}: the rule is out of date`);
      assert.deepEqual(
        importsOf(all).filter(({ to }) => never.test(to)),
        [],
      );
    });
  }

  it('lets tests have chance only with a seed, from test/support/property.ts', () => {
    const files = globSync('test/**/*.ts').filter((file) => !/^test\/(?:mutants\/|support\/property\.ts$)/.test(file));
    assert.ok(files.length > 500);
    assert.deepEqual(
      files.filter((file) => /^import .* from 'fast-check'|\bseed: Date\.now\(\)/m.test(codeOf(file))),
      [],
      "take { fc } from there instead of 'fast-check'",
    );
  });

  it('lets what waits or reads the time do so by the clock that it is given', () => {
    const files = globSync('{agent,reconciler,shared}/**/*.ts').filter((file) =>
      /\bsetTimeout\(|\bsetInterval\(|\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bAbortSignal\.timeout\(/.test(
        codeOf(file),
      ),
    );
    assert.deepEqual(files.toSorted(), [
      'shared/http/slow-readers.ts',
      'shared/http/tunnel.ts',
      'shared/runtime/clock.ts',
    ]);
  });

  it('lets only a program’s own first file touch the process', () => {
    const files = globSync('{agent,reconciler,shared,cli,sandbox}/**/*.ts').filter(
      (file) => !/(?:^|\/)main\.ts$/.test(file),
    );
    assert.deepEqual(
      files.filter((file) => /\bprocess\.(?:env|exit|argv|on|stdout|stderr)\b/.test(codeOf(file))),
      // The sandbox starts git, which it finds in the PATH.
      [
        'sandbox/git-server/git-program.ts',
        'sandbox/git-server/subprocess/run-in-subprocess.ts',
        'sandbox/git-server/subprocess/starter.ts',
      ],
    );
  });
});
