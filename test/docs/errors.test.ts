import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const PAGE = readFileSync('docs/reference/errors.md', 'utf8');
/** Unions of these have pages of their own, and tests that hold those to the source: test/docs/runbook.test.ts. */
const ELSEWHERE = /^(?:GIT|WEB|FORGE|NOTIFICATIONS?)_/;

/** Codes that errors are made with: by a class, or by a function of a name that says so. */
function codesInSource(): ReadonlySet<string> {
  const made = /(?:Error|attempt|broken)(?:<[^>]*>)?\(\s*'([A-Z][A-Z0-9_]+)'|GitopsError<'([A-Z_]+)'>/g;
  const union = readFileSync('shared/kube/kube-error.ts', 'utf8');
  const codes = globSync('{agent,shared,reconciler,cli}/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(made)].map(([, one, other]) => one ?? other ?? ''),
  );
  return new Set(codes.filter((code) => !ELSEWHERE.test(code) && !union.includes(`'${code}'`)));
}

describe('the page about error codes', () => {
  const codes = codesInSource();
  const rows = [...PAGE.matchAll(/^- ((?:`[A-Z_]+`(?:, )?)+): \S/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name),
  );

  it('has a line for every code that has none elsewhere', () => {
    assert.ok(codes.size > 40, `${codes.size}`);
    assert.deepEqual(
      [...codes].filter((code) => !rows.includes(code)),
      [],
    );
  });

  it('has no line for a code that is not there, and none twice', () => {
    assert.deepEqual(
      rows.filter((name, index) => !codes.has(name) || rows.indexOf(name) !== index),
      [],
    );
  });
});
