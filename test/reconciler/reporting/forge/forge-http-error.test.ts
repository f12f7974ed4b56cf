import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forgeErrorOf } from '#reconciler/reporting/forge/forge-http-error.ts';
import type { HttpAnswer } from '#shared/http/body.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const HERE = new URL('https://forge.example/api/v1/repos/a/b/commits/abc/status?page=1');
type Headers = HttpAnswer['headers'];

function told(status: number, headers: Headers = {}, text = ''): string {
  const { code, disposition } = forgeErrorOf({ status, headers, body: Buffer.of() }, HERE, text, NOW);
  return `${code} ${disposition.kind === 'wait' ? `${disposition.ms / 1000} s` : disposition.kind}`;
}
const resets = (seconds: number): Headers => ({
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': String(NOW / 1000 + seconds),
});

describe('what a forge says no with', () => {
  for (const [status, headers, text, expected] of [
    [400, {}, '', 'FORGE_REFUSED retry'],
    [422, {}, '', 'FORGE_REFUSED retry'],
    [401, {}, '', 'FORGE_UNAUTHORIZED retry'],
    [403, {}, '', 'FORGE_FORBIDDEN retry'],
    [404, {}, '', 'FORGE_FORBIDDEN retry'],
    [300, {}, '', 'FORGE_MOVED retry'],
    [399, {}, '', 'FORGE_MOVED retry'],
    [408, {}, '', 'FORGE_SERVER_ERROR retry'],
    [409, {}, '', 'FORGE_SERVER_ERROR retry'],
    [500, {}, '', 'FORGE_SERVER_ERROR retry'],
    [503, { 'retry-after': '7' }, '', 'FORGE_SERVER_ERROR 7 s'],
    [429, {}, '', 'FORGE_THROTTLED retry'],
    [429, { 'retry-after': '7' }, '', 'FORGE_THROTTLED 7 s'],
    [429, { 'retry-after': '86400' }, '', 'FORGE_THROTTLED 3600 s'],
    [429, resets(90), '', 'FORGE_THROTTLED 90 s'],
    [429, resets(-5), '', 'FORGE_THROTTLED 0 s'],
    [403, resets(90), '', 'FORGE_THROTTLED 90 s'],
    [403, { ...resets(90), 'x-ratelimit-remaining': '1' }, '', 'FORGE_FORBIDDEN retry'],
    [403, { 'x-ratelimit-remaining': '0' }, '', 'FORGE_THROTTLED 60 s'],
    [403, {}, 'You have exceeded a secondary rate limit', 'FORGE_THROTTLED 60 s'],
    [403, {}, 'Abuse detection mechanism', 'FORGE_THROTTLED 60 s'],
    [400, resets(90), 'rate limit', 'FORGE_REFUSED retry'],
  ] as const) {
    it(`is ${expected} for ${status} ${JSON.stringify(headers)} ${text}`, () => {
      assert.equal(told(status, headers, text), expected);
    });
  }

  it('names the repository that was asked for, where it moved and what a token needs', () => {
    const say = (status: number, headers: Headers): string =>
      forgeErrorOf({ status, headers, body: Buffer.of() }, HERE, 'words', NOW).message;
    assert.match(say(404, {}), /^forge\.example\/api\/v1\/repos\/a\/b: .* \(status 404\): words$/);
    assert.match(
      say(301, { location: '/api/v1/repositories/7?token=x' }),
      /, it points to forge\.example\/api\/v1\/repositories\/7 \(/,
    );
    assert.doesNotMatch(say(422, { location: '/elsewhere' }), /points to/);
    assert.match(say(403, { 'x-accepted-oauth-scopes': 'repo' }), /, the forge asks for repo \(/);
    assert.doesNotMatch(say(401, { 'x-accepted-oauth-scopes': 'repo' }), /asks for/);
  });
});
