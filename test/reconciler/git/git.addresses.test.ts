import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { isGitError } from '#reconciler/git/errors.ts';
import { retryAfter } from '#reconciler/git/http/git-http-error.ts';
import { branchRef, notesRef } from '#reconciler/git/ref-name.ts';
import { repositoryUrl } from '#reconciler/git/repository-url.ts';
import { isConfigPath } from '#reconciler/git/snapshot/config-paths.ts';

describe('the address of a repository', () => {
  it('is http or https and loses the slash at its end', () => {
    assert.equal(repositoryUrl('https://git.example/team/config.git/').href, 'https://git.example/team/config.git');
    assert.equal(repositoryUrl('http://127.0.0.1:8080/config').href, 'http://127.0.0.1:8080/config');
  });

  const unusable = [
    ['git’s own scheme', 'git://git.example/config.git', /https or ssh/],
    ['a directory', '/srv/git/config.git', /not the address/],
    ['a file', 'file:///srv/git/config.git', /https or ssh/],
    ['a credential', 'https://ada:hunter2@git.example/config.git', /Secret/],
    ['a token', 'https://hunter2@git.example/config.git', /Secret/],
    ['a credential in what is no address', 'https://ada:hunter2@git example/config.git', /not the address/],
    ['a query', 'https://git.example/config.git?token=hunter2', /behind its path/],
    ['a fragment', 'https://git.example/config.git#hunter2', /behind its path/],
    ['nothing', '', /not the address/],
  ] as const;
  for (const [what, url, message] of unusable) {
    it(`with ${what} is refused in words that help`, () => {
      assert.throws(
        () => repositoryUrl(url),
        (error) => {
          assert.ok(isGitError(error, 'GIT_URL_UNUSABLE'));
          assert.match(error.message, message);
          assert.doesNotMatch(inspect(error), /hunter2/);
          return true;
        },
      );
    });
  }
});

describe('a ref', () => {
  it('of a branch may be given short or whole', () => {
    assert.equal(branchRef('main'), 'refs/heads/main');
    assert.equal(branchRef('refs/heads/team/main'), 'refs/heads/team/main');
  });

  const hostile = [
    '',
    '.',
    '..',
    '/',
    'a b',
    'a\nb',
    'a..b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    'a@{1}',
    'a.lock',
    '.a',
    'a/.b',
    'a//b',
    'a/',
    '/a',
    'a.',
    'a\u202eb',
    'x'.repeat(300),
    '../../../etc/passwd',
    'a.lock/b',
  ];
  for (const name of hostile) {
    it(`is refused: ${inspect(name).slice(0, 40)}`, () => {
      assert.throws(
        () => branchRef(name),
        (error) => isGitError(error, 'GIT_REF_NAME_INVALID'),
      );
      assert.throws(
        () => notesRef(`refs/notes/${name}`),
        (error) => isGitError(error, 'GIT_REF_NAME_INVALID'),
      );
    });
  }

  it('of notes is nowhere but under refs/notes, and of a branch nowhere but under refs/heads', () => {
    assert.equal(notesRef('refs/notes/kubelet-gitops/prod.eu-1'), 'refs/notes/kubelet-gitops/prod.eu-1');
    for (const ref of ['refs/heads/main', 'notes/x', 'refs/notes', 'refs/notesx/y', 'HEAD']) {
      assert.throws(
        () => notesRef(ref),
        (error) => isGitError(error, 'GIT_REF_NAME_INVALID'),
      );
    }
    assert.throws(
      () => branchRef('refs/notes/x'),
      (error) => isGitError(error, 'GIT_REF_NAME_INVALID'),
    );
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const rows = [
    ['120', 120_000],
    [' 5 ', 5_000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['999999999', 3_600_000],
    ['soon', null],
    [undefined, null],
  ] as const;
  for (const [header, ms] of rows) {
    it(`${header} is ${ms} ms`, () => assert.equal(retryAfter(header, now), ms));
  }
});

describe('what is configuration', () => {
  const rows = [
    ['pools/gpu/pool.yaml', true],
    ['pools/gpu/README', true],
    ['pools', true],
    ['clusters/prod.yaml', true],
    ['base/x', true],
    ['team/layer.yaml', false],
    ['team/layer.md', false],
    ['poolsx/a', false],
    ['README.md', false],
  ] as const;
  for (const [path, is] of rows) it(`${path}: ${is}`, () => assert.equal(isConfigPath(path), is));
});
