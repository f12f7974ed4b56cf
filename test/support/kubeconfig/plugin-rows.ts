import { base64, BASIC, exec, info, RAN, FROM_PLUGIN, type Entry, type WireRow } from './wire-row.ts';
import type { WireWorld } from './wire-world.ts';

const allowing = (...credentialPluginAllowlist: readonly Entry[]): Entry => ({
  credentialPluginPolicy: 'Allowlist',
  credentialPluginAllowlist,
});

/** Of credential plugins. */
export const pluginRows = ({ ca, https, directory, socks }: WireWorld): readonly WireRow[] => [
  { what: 'command relative to the file', user: exec(), sends: [...RAN, FROM_PLUGIN, info({ interactive: false })] },
  {
    what: 'command in PATH',
    user: exec({ command: 'plugin' }),
    env: { PATH: `${directory}/bin:/usr/bin:/bin` },
    sends: [...RAN, FROM_PLUGIN, info({ interactive: false })],
  },
  {
    what: 'command in a PATH of env',
    user: exec({ command: 'plugin', env: [{ name: 'PATH', value: `${directory}/bin` }] }),
    refused: /the credential plugin plugin is not there/,
  },
  {
    what: 'command that is not there, and installHint',
    user: exec({ command: 'none-such', installHint: 'brew install none-such' }),
    refused: /none-such is not there, or is not executable\. The kubeconfig says: brew install none-such/,
  },
  {
    what: 'args and env',
    user: exec({ args: ['a b', '$c'], env: [{ name: 'EXTRA', value: 'd' }] }),
    sends: ['args: a b $c', 'env: d', FROM_PLUGIN, info({ interactive: false })],
  },
  {
    what: 'provideClusterInfo',
    user: exec({ provideClusterInfo: true }),
    sends: [
      ...RAN,
      FROM_PLUGIN,
      info({ cluster: { 'certificate-authority-data': base64(ca), config: null, server: https }, interactive: false }),
    ],
  },
  {
    what: 'provideClusterInfo, all of it',
    user: exec({ provideClusterInfo: true }),
    cluster: {
      'tls-server-name': 'other.test',
      'disable-compression': true,
      'proxy-url': `socks5://${socks}`,
      extensions: [
        { name: 'x', extension: 1 },
        { name: 'client.authentication.k8s.io/exec', extension: { audience: 'us', list: [1] } },
      ],
    },
    packed: false,
    sends: [
      ...RAN,
      FROM_PLUGIN,
      info({
        cluster: {
          'certificate-authority-data': base64(ca),
          config: { audience: 'us', list: [1] },
          'disable-compression': true,
          'proxy-url': `socks5://${socks}`,
          server: https,
          'tls-server-name': 'other.test',
        },
        interactive: false,
      }),
      'name: other.test',
      `socks: ${https.replace('https://', '')}`,
    ],
  },
  {
    what: 'apiVersion v1beta1, whose plugin speaks v1',
    user: exec({ apiVersion: 'client.authentication.k8s.io/v1beta1' }),
    sends: [...RAN, info({ interactive: false }, 'client.authentication.k8s.io/v1beta1')],
    refused: /not of client.authentication.k8s.io\/v1beta1/,
  },
  {
    what: 'apiVersion v1alpha1',
    user: exec({ apiVersion: 'client.authentication.k8s.io/v1alpha1' }),
    refused: /exec with the apiVersion client.authentication.k8s.io\/v1alpha1/,
  },
  { what: 'no apiVersion', user: exec({ apiVersion: undefined }), refused: /exec with the apiVersion left out/ },
  { what: 'no command', user: exec({ command: '' }), refused: /exec without a command/ },
  {
    what: 'no interactiveMode',
    user: exec({ interactiveMode: undefined }),
    refused: /exec without an interactiveMode/,
  },
  {
    what: 'interactiveMode of no kind',
    user: exec({ interactiveMode: 'Often' }),
    refused: /exec without an interactiveMode/,
  },
  {
    what: 'interactiveMode IfAvailable without a terminal',
    user: exec({ interactiveMode: 'IfAvailable' }),
    sends: [...RAN, FROM_PLUGIN, info({ interactive: false })],
  },
  {
    what: 'interactiveMode Always without a terminal',
    user: exec({ interactiveMode: 'Always' }),
    refused: /asks on a terminal/,
  },
  { what: 'env without a name', user: exec({ env: [{ value: 'x' }] }), refused: /env without a name/ },
  { what: 'token before exec', user: { token: 'one', ...exec() }, sends: ['authorization: Bearer one'] },
  {
    what: 'username before exec',
    user: { username: 'me', password: 's:ecret', ...exec() },
    sends: [`authorization: ${BASIC}`],
  },
  {
    what: 'certificate before exec',
    user: { 'client-certificate': 'me.crt', 'client-key': 'me.key', ...exec() },
    sends: ['certificate: someone'],
  },
  {
    what: 'credentialPluginPolicy AllowAll',
    kuberc: { credentialPluginPolicy: 'AllowAll' },
    user: exec(),
    sends: [...RAN, FROM_PLUGIN, info({ interactive: false })],
  },
  {
    what: 'credentialPluginPolicy DenyAll',
    kuberc: { credentialPluginPolicy: 'DenyAll' },
    user: exec(),
    refused: /kuberc: credentialPluginPolicy DenyAll lets no plugin run/,
  },
  {
    what: 'credentialPluginPolicy DenyAll for a token',
    kuberc: { credentialPluginPolicy: 'DenyAll' },
    user: { token: 'one' },
    sends: ['authorization: Bearer one'],
  },
  {
    what: 'credentialPluginAllowlist with the plugin',
    kuberc: allowing({ command: `${directory}/bin/plugin` }),
    user: exec(),
    sends: [...RAN, FROM_PLUGIN, info({ interactive: false })],
  },
  {
    what: 'credentialPluginAllowlist with its older name',
    kuberc: allowing({ name: `${directory}/bin/plugin` }),
    user: exec(),
    sends: [...RAN, FROM_PLUGIN, info({ interactive: false })],
  },
  {
    what: 'credentialPluginAllowlist by PATH',
    kuberc: allowing({ command: 'other' }, { command: 'plugin' }),
    user: exec(),
    env: { PATH: `${directory}/bin:/usr/bin:/bin` },
    sends: [...RAN, FROM_PLUGIN, info({ interactive: false })],
  },
  {
    what: 'credentialPluginAllowlist with another plugin',
    kuberc: allowing({ command: '/usr/bin/plugin' }),
    user: exec(),
    refused: /kuberc: credentialPluginAllowlist does not have .*bin\/plugin/,
  },
  {
    what: 'credentialPluginAllowlist without the policy',
    kuberc: { credentialPluginAllowlist: [{ command: 'plugin' }] },
    user: exec(),
    refused: /credentialPluginAllowlist without the policy Allowlist/,
  },
  {
    what: 'credentialPluginPolicy of no kind',
    kuberc: { credentialPluginPolicy: 'Some' },
    user: exec(),
    refused: /credentialPluginPolicy that is none/,
  },
  {
    what: 'KUBERC that is not there',
    user: exec(),
    env: { KUBERC: `${directory}/none` },
    refused: /none: cannot be read \(ENOENT\)/,
  },
  {
    what: 'KUBERC of something else',
    kuberc: { kind: 'Config' },
    user: exec(),
    refused: /is no Preference of kubectl/,
  },
  {
    what: 'KUBERC off',
    kuberc: { credentialPluginPolicy: 'DenyAll' },
    user: exec(),
    env: { KUBERC: 'off' },
    sends: [...RAN, FROM_PLUGIN, info({ interactive: false })],
  },
  {
    what: 'as with exec',
    user: { as: 'ada', ...exec() },
    sends: [...RAN, FROM_PLUGIN, 'impersonate-user: ada', info({ interactive: false })],
  },
];
