import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

/** Where findings are made: by loading and by reading the tree, in the reconciler and in CI. */
const SOURCES = globSync([
  'shared/contract/kubelet-config/**/*.ts',
  'reconciler/{policy/config-repo,git,policy/windows}/**/*.ts',
  'cli/{validate,plan}/**/*.ts',
  'reconciler/policy/desired.ts',
  'agent/preflight/**/*.ts',
  'scripts/generate/*-{schema,schemas,builders}.ts',
]);

/** Codes stand in `code: '…'`, in `const code = … ? '…' : '…'`, or as an argument of what reports them. */
const PLACES = [
  /\bcode(?:: | = )(?:[^'\n;{}()]*\? )?'([a-z0-9-]+)'(?: : '([a-z0-9-]+)')?/g,
  /\bfind\([^']*'(?:error|warning)'(?: : '(?:error|warning)')?,\s*'([a-z0-9-]+)'/g,
  // What a schema says.
  /\b(?:any|number|type|not|anyOf|oneOf|several|contains): \[\s*'([a-z0-9]+(?:-[a-z0-9]+)+)',\s*[`'{]/g,
  /\b(?:report|fail|refuse|warn|say|finding|error)\(\s*(?:file,\s*)?'([a-z0-9]+(?:-[a-z0-9]+)+)'/g,
];

function codesIn(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  return PLACES.flatMap((place) => [...text.matchAll(place)].flatMap(([, ...codes]) => codes.filter(Boolean)));
}

const used = new Set(SOURCES.flatMap(codesIn));
const explained = [...readFileSync('docs/reference/findings.md', 'utf8').matchAll(/^### (.+)$/gm)].map(
  ([, code = '']) => code,
);

/** What an agent finds on its machine has lines in the list of preflight. */
const onNodes = [...readFileSync('docs/preflight.md', 'utf8').matchAll(/^- `([a-z0-9-]+)`(?: \([^)]+\))?: ./gm)].map(
  ([, code = '']) => code,
);

describe('the page about findings', () => {
  it('explains every code that the source can give, but for those of a node', () => {
    assert.ok(used.size > 40, `found only ${used.size} codes in the source`);
    const ofNodes = new Set(globSync('agent/preflight/**/*.ts').flatMap(codesIn));
    assert.ok(ofNodes.size > 15, `found only ${ofNodes.size} codes of nodes`);
    assert.deepEqual(
      [...used].filter((code) => !explained.includes(code) && !(ofNodes.has(code) && onNodes.includes(code))),
      [],
    );
  });

  it('leaves to the page about preflight only what is there, with what to do', () => {
    assert.ok(onNodes.length > 20);
    const text = SOURCES.map((file) => readFileSync(file, 'utf8')).join('\n');
    assert.deepEqual(
      onNodes.filter((code) => !text.includes(`'${code}'`)),
      [],
    );
  });

  it('explains no code that nothing gives', () => {
    const text = SOURCES.map((file) => readFileSync(file, 'utf8')).join('\n');
    assert.deepEqual(
      explained.filter((code) => !text.includes(`'${code}'`)),
      [],
    );
  });

  it('explains each once', () => {
    assert.equal(new Set(explained).size, explained.length);
  });
});
