import { exec, info, RAN, FROM_PLUGIN, type Entry, type WireRow } from './wire-row.ts';
import type { WireWorld } from './wire-world.ts';

/** Of several files. */
export const fileRows = ({ directory: d, https }: WireWorld): readonly WireRow[] => {
  const cluster = (server = https, authority = 'ca.crt'): Entry => ({
    clusters: [{ name: 'here', cluster: { server, 'certificate-authority': authority } }],
  });
  const user = (one: Entry): Entry => ({ users: [{ name: 'me', user: one }] });
  const context = (name = 'usual', more: Entry = { cluster: 'here', user: 'me' }): Entry => ({
    contexts: [{ name, context: more }],
    'current-context': name,
  });
  const all = { ...cluster(), ...context() };
  const one = user({ token: 'one' });
  const sends = ['authorization: Bearer one'];
  const KUBECONFIG = `${d}/a:${d}/sub/b`;
  const yaml = (tls: string, of: string): string => `
x: &x {cluster: here}
clusters: [{name: here, cluster: {server: "${https}", ${tls}}}]
users: [{name: me, user: {token: one}}]
contexts: [{name: usual, context: {${of}}}]
current-context: usual
`;
  const sub = { 'sub/b': user({ 'client-certificate': '../me.crt', 'client-key': '../me.key' }) };
  return [
    {
      what: '~/.kube/config',
      files: { 'home/.kube/config': { ...cluster(https, '../../ca.crt'), ...context(), ...one } },
      env: { HOME: `${d}/home` },
      sends,
    },
    {
      what: 'paths relative to each file',
      files: { a: all, ...sub },
      env: { KUBECONFIG },
      sends: ['certificate: someone'],
    },
    {
      what: 'a plugin relative to its file',
      files: { a: all, 'sub/b': user(exec({ command: '../bin/plugin' })) },
      env: { KUBECONFIG },
      sends: [...RAN, FROM_PLUGIN, info({ interactive: false })],
    },
    {
      what: 'a user in two files',
      files: { a: { ...all, ...one }, 'sub/b': user({ as: 'ada', token: 'two' }) },
      env: { KUBECONFIG },
      sends,
    },
    {
      what: 'current contexts in two files',
      files: {
        a: { ...all, ...one },
        'sub/b': { ...cluster('https://127.0.0.1:1'), ...context('other', { cluster: 'none' }) },
      },
      env: { KUBECONFIG },
      sends,
    },
    {
      what: 'the current context of the second file',
      files: { a: { ...cluster(), ...one, 'current-context': '' }, 'sub/b': context() },
      env: { KUBECONFIG },
      sends,
    },
    {
      what: 'a file that is missing, one that is empty, and a name that is',
      files: { a: '', 'sub/b': { ...cluster(https, '../ca.crt'), ...context(), ...one } },
      env: { KUBECONFIG: `${d}/none::${KUBECONFIG}` },
      sends,
    },
    { what: 'a file of comments', files: { a: { ...all, ...one }, 'sub/b': '# later\n' }, env: { KUBECONFIG }, sends },
    {
      what: 'a file that is not YAML',
      files: { a: { ...all, ...one }, 'sub/b': '{' },
      env: { KUBECONFIG },
      refused: /sub\/b is not a kubeconfig/,
    },
    {
      what: 'merge keys',
      files: { a: yaml('certificate-authority: ca.crt', '<<: *x, user: me') },
      env: { KUBECONFIG: `${d}/a` },
      sends,
    },
    {
      what: 'yes for true',
      files: { a: yaml('insecure-skip-tls-verify: yes', 'cluster: here, user: me') },
      env: { KUBECONFIG: `${d}/a` },
      refused: /cluster here: insecure-skip-tls-verify must be true or false/,
      kubectl: ['accept-encoding: gzip', ...sends],
    },
    {
      what: 'KUBECONFIG that names no file',
      files: { 'home/.kube/config': { ...cluster(https, '../../ca.crt'), ...context(), ...one } },
      env: { HOME: `${d}/home`, KUBECONFIG: ':' },
      refused: /KUBECONFIG names no file/,
    },
    {
      what: 'files that are all missing',
      files: {},
      env: { KUBECONFIG: `${d}/none` },
      refused: /there is no kubeconfig at .*none/,
    },
    {
      what: 'no file, and KUBERNETES_MASTER',
      files: {},
      env: { KUBERNETES_MASTER: 'http://127.0.0.1:1' },
      refused: /KUBERNETES_MASTER is not read/,
    },
    {
      what: 'no current context',
      files: { a: { ...cluster(), ...one } },
      env: { KUBECONFIG: `${d}/a` },
      refused: /no current context/,
    },
    {
      what: 'a current context that is not there',
      files: { a: { ...cluster(), ...one, 'current-context': 'x' } },
      env: { KUBECONFIG: `${d}/a` },
      refused: /no context x/,
    },
    {
      what: 'a context of a cluster that is not there',
      files: { a: { ...context('usual', { cluster: 'x', user: 'me' }), ...one } },
      env: { KUBECONFIG: `${d}/a` },
      refused: /context usual is of the cluster x, not there/,
    },
    {
      what: 'a context of a user who is not there',
      files: { a: { ...all, users: [] } },
      env: { KUBECONFIG: `${d}/a` },
      refused: /context usual is of the user me, not there/,
    },
    {
      what: 'a name that is a number',
      files: { a: { ...all, users: [{ name: 1 }] } },
      env: { KUBECONFIG: `${d}/a` },
      refused: /an entry of users: name must be text/,
    },
  ];
};
