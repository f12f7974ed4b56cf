/**
 * What goes past a proxy: `NO_PROXY`, an address, and whether it is asked directly. The same for Go's programs, which
 * `test/peers/kubectl-proxy.test.ts` asks.
 */
export const NO_PROXY_ROWS: readonly (readonly [except: string, address: string, past: boolean])[] = [
  ['', 'https://git.example.com/x', false],
  ['*', 'https://git.example.com/x', true],
  ['a.test,*', 'https://10.1.2.3/x', true],
  ['example.com', 'https://git.example.com/x', true],
  ['example.com', 'https://example.com/x', true],
  ['.example.com', 'https://git.example.com/x', true],
  ['.example.com', 'https://example.com/x', false],
  ['*.example.com', 'https://git.example.com/x', true],
  ['*.example.com', 'https://example.com/x', false],
  ['*example.com', 'https://git.example.com/x', false],
  ['Git.Example.com', 'https://git.example.com/x', true],
  ['ample.com', 'https://git.example.com/x', false],
  ['git.example.com.', 'https://git.example.com/x', false],
  ['a.test other.test', 'https://other.test/x', false],
  ['a.test, .svc,.cluster.local', 'http://gitea.git.svc:3000/x', true],
  [' , git.example.com ,', 'https://git.example.com/x', true],
  ['git.example.com:8443', 'https://git.example.com/x', false],
  ['git.example.com:8443', 'https://git.example.com:8443/x', true],
  ['git.example.com:443', 'https://git.example.com/x', true],
  ['.example.com:80', 'http://git.example.com/x', true],
  ['*:443', 'https://git.example.com/x', false],
  ['bücher.test', 'https://xn--bcher-kva.test/x', true],
  ['10.0.0.0/8', 'https://10.1.2.3/x', true],
  ['10.0.0.0/8', 'https://11.1.2.3/x', false],
  ['10.0.0.0/8', 'https://ten.test/x', false],
  ['10.1.2.3/32:443', 'https://10.1.2.3/x', false],
  ['::ffff:10.0.0.0/104', 'https://10.1.2.3/x', true],
  ['10.1.2.3', 'https://10.1.2.3/x', true],
  ['10.1.2.3:6443', 'https://10.1.2.3/x', false],
  ['10.1.2.3:6443', 'https://10.1.2.3:6443/x', true],
  ['2.3', 'https://10.1.2.3/x', false],
  ['.2.3', 'https://10.1.2.3/x', false],
  ['fd00::/8', 'https://[fd12::1]/x', true],
  ['fd12::1', 'https://[fd12::1]/x', true],
  ['fd12:0::1', 'https://[fd12::1]/x', true],
  ['[fd12::1]', 'https://[fd12::1]/x', false],
  ['[fd12::1]:443', 'https://[fd12::1]/x', true],
  ['10.0.0.0/99,/8,.,:,[', 'https://10.1.2.3/x', false],
];

/** Never behind a proxy. */
export const ON_THIS_MACHINE = [
  'http://127.0.0.1:3000/x',
  'https://127.8.9.10/x',
  'http://localhost/x',
  'http://[::1]/x',
  'https://[::ffff:127.0.0.1]/x',
];
