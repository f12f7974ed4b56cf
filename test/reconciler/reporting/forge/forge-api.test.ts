import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forgeApiOf } from '#reconciler/reporting/forge/forge-api.ts';
import type { ForgeKind } from '#reconciler/reporting/forge/forges.ts';

describe('where a forge has its API', () => {
  for (const [kind, gitUrl, api] of [
    ['github', 'https://github.com/a/b.git', 'https://api.github.com'],
    ['github', 'ssh://git@ssh.github.com:443/a/b.git', 'https://api.github.com'],
    ['github', 'https://ghe.example:8443/a/b', 'https://ghe.example:8443/api/v3'],
    ['gitlab', 'git@altssh.gitlab.com:a/b.git', 'https://gitlab.com/api/v4'],
    ['gitlab', 'ssh://git@lab.example:2222/a/b.git', 'https://lab.example/api/v4'],
    ['gitea', 'http://tea.example:3000/a/b.git/', 'http://tea.example:3000/api/v1'],
  ] as const) {
    it(`is ${api} for ${gitUrl} on ${kind}`, () => {
      assert.deepEqual(forgeApiOf(kind, { gitUrl }), { api, repository: 'a/b' });
    });
  }

  it('is what somebody says, before what the address tells', () => {
    const said = { apiUrl: 'https://forge.example/base/api/v1//', repository: 'x/y/z' };
    const told = { api: 'https://forge.example/base/api/v1', repository: 'x/y/z' };
    for (const gitUrl of ['https://tea.example/a/b.git', '/srv/git/config.git', '']) {
      assert.deepEqual(forgeApiOf('gitea', { gitUrl, ...said }), told);
    }
  });

  for (const [what, settings] of [
    ['an address that is none', { gitUrl: 'nowhere' }],
    ['half of it said', { gitUrl: 'nowhere', repository: 'a/b' }],
    ['the other half said', { gitUrl: 'nowhere', apiUrl: 'https://forge.example' }],
    ['a repository without an owner', { gitUrl: 'https://tea.example/b.git' }],
    ['a repository that leaves its place', { gitUrl: 'https://tea.example/a/b.git', repository: 'a/b?c' }],
    ['an API with a credential', { gitUrl: 'https://tea.example/a/b.git', apiUrl: 'https://user@forge.example' }],
    ['an API of another kind', { gitUrl: 'https://tea.example/a/b.git', apiUrl: 'ftp://forge.example' }],
  ] as const) {
    it(`cannot be told from ${what}`, () => {
      for (const kind of ['github', 'gitlab', 'gitea'] satisfies ForgeKind[]) {
        assert.equal(forgeApiOf(kind, settings), null);
      }
    });
  }
});
