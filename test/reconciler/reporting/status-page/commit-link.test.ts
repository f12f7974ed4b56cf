import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { commitLink } from '#reconciler/reporting/status-page/commit-link.ts';
import { COMMIT_A } from '../../../support/fleet.ts';

describe('the link to a commit', () => {
  const rows = [
    ['https://github.com/acme/config.git', undefined, `https://github.com/acme/config/commit/${COMMIT_A}`],
    ['git@github.com:acme/config.git', undefined, `https://github.com/acme/config/commit/${COMMIT_A}`],
    ['ssh://git@ssh.github.com:443/acme/config', undefined, `https://github.com/acme/config/commit/${COMMIT_A}`],
    ['https://gitlab.example.com/a/b/c', undefined, `https://gitlab.example.com/a/b/c/-/commit/${COMMIT_A}`],
    ['https://codeberg.org/a/b', undefined, `https://codeberg.org/a/b/commit/${COMMIT_A}`],
    ['https://bitbucket.org/a/b.git', undefined, `https://bitbucket.org/a/b/commits/${COMMIT_A}`],
    ['https://code.example.com/a/b.git', 'gitea', `https://code.example.com/a/b/commit/${COMMIT_A}`],
    ['http://forge.lan:3000/a/b.git', 'gitea', `http://forge.lan:3000/a/b/commit/${COMMIT_A}`],
    ['https://code.example.com/a/b.git', undefined, null],
    ['https://notgithub.com/a/b', undefined, null],
    ['', 'github', null],
  ] as const;
  for (const [url, kind, link] of rows) {
    it(`of ${url === '' ? 'no repository' : url}${kind === undefined ? '' : ` (${kind})`} is ${link ?? 'not known'}`, () => {
      assert.equal(commitLink(url, COMMIT_A, kind), link);
    });
  }

  it('never holds a credential, and is of no other scheme', () => {
    fc.assert(
      fc.property(fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string()), (url) => {
        const link = commitLink(url.replace('://', '://ada:s3cret@'), COMMIT_A, 'github');
        assert.doesNotMatch(link ?? '', /s3cret/);
        assert.match(link ?? 'https:', /^https?:/);
      }),
    );
  });

  it('is none for what is no commit', () => {
    assert.equal(commitLink('https://github.com/a/b', '"><script>'), null);
  });
});
