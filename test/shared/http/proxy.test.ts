import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeProxy, proxiesFor, proxyUrl, readProxySettings } from '#shared/http/proxy.ts';
import { NO_PROXY_ROWS, ON_THIS_MACHINE } from '../../support/no-proxy-rows.ts';

const http = 'http://proxy.example:3128';
const passes = (except: string, address: string): boolean =>
  proxiesFor({ http, https: http, except }, new URL(address)).https === undefined;

describe('what goes past the proxy', () => {
  for (const [except, address, past] of NO_PROXY_ROWS) {
    it(`${address} ${past ? 'does' : 'does not'} with NO_PROXY=${except}`, () =>
      assert.equal(passes(except, address), past));
  }
  for (const address of ON_THIS_MACHINE) it(`${address} does by itself`, () => assert.equal(passes('', address), true));
});

describe('the proxies of an environment', () => {
  const read = (env: Readonly<Record<string, string>>) => {
    const mistakes: string[] = [];
    const settings = readProxySettings(
      (name) => env[name],
      (mistake) => void mistakes.push(mistake),
    );
    return { ...settings, mistakes };
  };

  it('are named in upper case or lower case, and empty for none', () => {
    const settings = read({
      HTTPS_PROXY: '',
      https_proxy: 'one:3128',
      HTTP_PROXY: 'socks5://two',
      http_proxy: 'three',
      no_proxy: '.svc',
    });
    assert.deepEqual(settings, { https: 'http://one:3128/', http: 'socks5://two', except: '.svc', mistakes: [] });
    assert.deepEqual(read({}), { https: undefined, http: undefined, except: '', mistakes: [] });
  });

  it('that are none are mistakes that repeat no password', () => {
    for (const wrong of ['ftp://u:hidden@proxy', 'http://u:hidden@:99999', '//hidden', 'http://']) {
      assert.equal(proxyUrl(wrong), undefined, wrong);
      assert.deepEqual(read({ HTTPS_PROXY: wrong }).mistakes, [
        'HTTPS_PROXY is not the address of a proxy: write http://HOST:PORT',
      ]);
    }
    assert.equal(describeProxy('http://u:hidden@proxy:3128'), 'proxy:3128');
  });
});
