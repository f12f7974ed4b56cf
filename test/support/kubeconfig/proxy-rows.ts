import type { Entry, WireRow } from './wire-row.ts';
import type { WireWorld } from './wire-world.ts';

const TUNNEL = 'proxy: CONNECT kube.test:443';
/** One that only a proxy knows. */
const FAR: Entry = { server: 'https://kube.test' };

/** Of proxies. */
export const proxyRows = ({ proxy, strictProxy, socks, strictSocks, https }: WireWorld): readonly WireRow[] => {
  const far = (more: Partial<WireRow> & { readonly what: string }): WireRow => ({
    user: { token: 'one' },
    ...more,
    cluster: { ...FAR, ...more.cluster },
  });
  const ONE = ['authorization: Bearer one', 'name: kube.test'];
  return [
    far({ what: 'proxy-url', cluster: { 'proxy-url': `http://${proxy}` }, sends: [...ONE, TUNNEL] }),
    {
      what: 'proxy-url before a server on this machine',
      cluster: { 'proxy-url': `http://${proxy}` },
      user: { token: 'one' },
      sends: ['authorization: Bearer one', `proxy: CONNECT ${https.replace('https://', '')}`],
    },
    far({
      what: 'proxy-url with a password',
      cluster: { 'proxy-url': `http://ada:p%40ss@${strictProxy}` },
      sends: [...ONE, TUNNEL],
    }),
    far({
      what: 'proxy-url with a wrong password',
      cluster: { 'proxy-url': `http://ada:wrong@${strictProxy}` },
      sends: [TUNNEL],
      packed: false,
      refused: /through the proxy [^ ]+ \(status 407\)/,
    }),
    far({
      what: 'proxy-url of SOCKS',
      cluster: { 'proxy-url': `socks5://${socks}` },
      sends: [...ONE, 'socks: kube.test:443'],
    }),
    far({
      what: 'proxy-url of SOCKS with a password',
      cluster: { 'proxy-url': `socks5://ada:p%40ss@${strictSocks}` },
      sends: [...ONE, 'socks: kube.test:443'],
    }),
    far({
      what: 'proxy-url of SOCKS with a wrong password',
      cluster: { 'proxy-url': `socks5://ada:wrong@${strictSocks}` },
      packed: false,
      refused: /through the proxy [^ ]+ \(the wish for another credential\)/,
    }),
    far({
      what: 'proxy-url of another kind',
      cluster: { 'proxy-url': `ftp://${proxy}` },
      refused: /proxy-url that is not an address of http, https or socks5/,
    }),
    far({
      what: 'proxy-url without a scheme',
      cluster: { 'proxy-url': proxy },
      refused: /proxy-url that is not an address of http, https or socks5/,
    }),
    far({ what: 'HTTPS_PROXY', env: { HTTPS_PROXY: `http://${proxy}` }, sends: [...ONE, TUNNEL] }),
    far({ what: 'HTTPS_PROXY without a scheme', env: { HTTPS_PROXY: proxy }, sends: [...ONE, TUNNEL] }),
    far({
      what: 'HTTPS_PROXY before https_proxy',
      env: { HTTPS_PROXY: `http://${proxy}`, https_proxy: 'http://127.0.0.1:1' },
      sends: [...ONE, TUNNEL],
    }),
    far({ what: 'https_proxy', env: { https_proxy: `http://${proxy}` }, sends: [...ONE, TUNNEL] }),
    far({
      what: 'HTTPS_PROXY of SOCKS',
      env: { HTTPS_PROXY: `socks5://${socks}` },
      sends: [...ONE, 'socks: kube.test:443'],
    }),
    far({
      what: 'proxy-url before HTTPS_PROXY',
      cluster: { 'proxy-url': `http://${proxy}` },
      env: { HTTPS_PROXY: 'http://127.0.0.1:1' },
      sends: [...ONE, TUNNEL],
    }),
    far({
      what: 'proxy-url before NO_PROXY',
      cluster: { 'proxy-url': `http://${proxy}` },
      env: { NO_PROXY: '*' },
      sends: [...ONE, TUNNEL],
    }),
    far({
      what: 'HTTP_PROXY for https',
      env: { HTTP_PROXY: `http://${proxy}` },
      packed: false,
      refused: /no answer from https:\/\/kube.test \(E/,
    }),
    far({
      what: 'NO_PROXY',
      env: { HTTPS_PROXY: `http://${proxy}`, NO_PROXY: 'kube.test' },
      packed: false,
      refused: /no answer from https:\/\/kube.test \(E/,
    }),
    {
      what: 'HTTPS_PROXY before a server on this machine',
      user: { token: 'one' },
      env: { HTTPS_PROXY: 'http://127.0.0.1:1' },
      sends: ['authorization: Bearer one'],
    },
    far({
      what: 'HTTP_PROXY for http',
      cluster: { server: 'http://kube.test:8001/prefix' },
      env: { HTTP_PROXY: `http://${proxy}` },
      sends: ['proxy: GET http://kube.test:8001/prefix/api/v1/nodes'],
    }),
    far({
      what: 'HTTP_PROXY with a password',
      cluster: { server: 'http://kube.test' },
      env: { HTTP_PROXY: `http://ada:p%40ss@${strictProxy}` },
      sends: ['proxy: GET http://kube.test/api/v1/nodes'],
    }),
    far({
      what: 'HTTP_PROXY in a CGI program',
      cluster: { server: 'http://kube.test' },
      env: { HTTP_PROXY: `http://${proxy}`, REQUEST_METHOD: 'GET' },
      refused: /HTTP_PROXY is not believed in a CGI program/,
    }),
    far({
      what: 'tls-server-name behind a proxy',
      cluster: { 'proxy-url': `http://${proxy}`, 'tls-server-name': 'other.test' },
      sends: ['authorization: Bearer one', 'name: other.test', TUNNEL],
    }),
  ];
};
