import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { credentialIn, runPlugin } from '#reconciler/cluster/kube/exec-plugin.ts';
import { lookPath, whyNotPlugin } from '#reconciler/cluster/kube/plugin-policy.ts';
import { openKubeconfig } from '#reconciler/cluster/kube/kubeconfig.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { kubeconfigOf } from '../../../support/kubeconfig/one-cluster.ts';

const V1 = 'client.authentication.k8s.io/v1';
const says = (status: object, more: object = {}): string =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status, ...more });

describe('what a credential plugin prints', () => {
  const rows: readonly (readonly [what: string, printed: string, read: ReturnType<typeof credentialIn>])[] = [
    ['a token', says({ token: 'one' }), { token: 'one' }],
    ['YAML', `kind: ExecCredential\napiVersion: ${V1}\nstatus: {token: one}\n`, { token: 'one' }],
    ['a certificate', says({ clientCertificateData: 'c', clientKeyData: 'k' }), { cert: 'c', key: 'k' }],
    [
      'when it expires',
      says({ token: 'one', expirationTimestamp: '2026-01-01T00:00:00Z' }),
      { token: 'one', expires: Date.UTC(2026, 0, 1) },
    ],
    ['nothing', '', 'printed no ExecCredential with a status'],
    ['no JSON', '{{', 'printed no ExecCredential with a status'],
    ['another kind', says({ token: 's3cret' }, { kind: 'Secret' }), 'printed no ExecCredential with a status'],
    [
      'another version',
      says({ token: 's3cret' }, { apiVersion: 'v1' }),
      `printed an ExecCredential that is not of ${V1}`,
    ],
    ['no status', says({}, { status: null }), 'printed no ExecCredential with a status'],
    ['an empty status', says({}), 'printed neither a token nor a certificate'],
    ['a number for a token', says({ token: 7 }), 'printed an ExecCredential whose status.token must be text'],
    [
      'half a certificate',
      says({ clientKeyData: 's3cret' }),
      'printed a certificate without a key, or a key without a certificate',
    ],
    [
      'a date that is none',
      says({ token: 's3cret', expirationTimestamp: 'soon' }),
      'printed an expirationTimestamp that is no time',
    ],
  ];
  for (const [what, printed, read] of rows)
    it(`${what} is read as it is meant`, () => assert.deepEqual(credentialIn(printed, V1), read));
});

describe('the preferences of kubectl', () => {
  const find = (name: string): string | undefined => (name.endsWith('aws') ? '/opt/bin/aws' : undefined);
  const list = (...names: readonly string[]) => ({
    credentialPluginPolicy: 'Allowlist',
    credentialPluginAllowlist: names.map((command) => ({ command })),
  });
  const rows: readonly (readonly [preference: object, command: string, why: RegExp | undefined])[] = [
    [{}, 'aws', undefined],
    [{ credentialPluginPolicy: 'AllowAll' }, 'aws', undefined],
    [{ credentialPluginPolicy: 'DenyAll' }, 'aws', /^credentialPluginPolicy DenyAll/],
    [list('aws'), 'aws', undefined],
    [list('/opt/bin/aws'), 'aws', undefined],
    [list('aws'), '/opt/bin/aws', undefined],
    [list('/opt/bin/aws'), '/opt/./bin/aws', undefined],
    [list('gcloud'), 'aws', /^credentialPluginAllowlist does not have aws$/],
    [list('missing'), 'missing', /does not have missing/],
    [list(), 'aws', /does not have aws/],
    [{ credentialPluginPolicy: 'Allowlist' }, 'aws', /does not have aws/],
    [{ credentialPluginAllowlist: [] }, 'aws', /without the policy Allowlist/],
    [{ credentialPluginPolicy: 7 }, 'aws', /a credentialPluginPolicy that is none/],
  ];
  for (const [preference, command, why] of rows) {
    it(`${JSON.stringify(preference)} ${why === undefined ? 'let' : 'do not let'} ${command} run`, () => {
      const said = whyNotPlugin(preference as Readonly<Record<string, unknown>>, command, find);
      if (why === undefined) assert.equal(said, undefined);
      else assert.match(said ?? '', why);
    });
  }
});

describe('a credential plugin', () => {
  const directory = temporaryDirectory();
  const plugin = join(directory, 'plugin');
  before(async () => {
    await mkdir(join(directory, 'empty'));
    await writeFile(
      plugin,
      `#!/bin/sh\necho >> ${directory}/runs\nn=$(wc -l < ${directory}/runs)\nsleep 0.2\nprintf "$PRINTS" $n\n`,
    );
    await chmod(plugin, 0o755);
  });
  const exec = { apiVersion: V1, command: plugin, interactiveMode: 'Never' };
  const env = (status: object) => ({ PATH: '/usr/bin:/bin', PRINTS: says(status) });

  it('is found in PATH, where a folder or a file that is not executable is none', async () => {
    await writeFile(join(directory, 'empty', 'plugin'), '');
    await mkdir(join(directory, 'empty', 'aws'));
    const path = `${directory}/empty:${directory}`;
    assert.equal(lookPath('plugin', path), plugin);
    assert.equal(lookPath('aws', path), undefined);
    assert.equal(lookPath(plugin, ''), plugin);
  });

  it('that prints without end is stopped, and nothing of it is kept', async () => {
    const endless = { ...exec, command: '/bin/sh', args: ['-c', 'exec yes s3cret'] };
    const why = await runPlugin(endless, {}, {}).then(String, reasonOf);
    assert.equal(why, 'the credential plugin /bin/sh printed more than an ExecCredential can be');
  });

  it('that cannot be started says how to get it', async () => {
    const odd = join(directory, 'odd');
    await writeFile(odd, '#!/none/such/shell\n');
    await chmod(odd, 0o755);
    const why = await runPlugin({ ...exec, command: odd, installHint: 'apt install odd' }, {}, {}).then(
      String,
      reasonOf,
    );
    assert.match(why, /odd cannot be started \(ENOENT\)\. The kubeconfig says: apt install odd$/);
  });

  it('runs once for calls at the same time, and again when what it gave has expired or was refused', async () => {
    const file = join(directory, 'config');
    const clock = createManualClock();
    await writeFile(file, kubeconfigOf({ server: 'https://127.0.0.1:1' }, { exec }));
    const expirationTimestamp = new Date(clock.now() + 60_000).toISOString();
    const opened = await openKubeconfig([file], undefined, {
      clock,
      env: env({ token: 'run-%s', expirationTimestamp }),
    });
    const credentials = opened?.credentials ?? assert.fail();
    const tokens = async (): Promise<readonly (string | undefined)[]> =>
      (await Promise.all([credentials.current(), credentials.current()])).map(({ token }) => token);
    assert.deepEqual(await tokens(), ['run-1', 'run-1']);
    await clock.advance(59_000);
    assert.deepEqual(await tokens(), ['run-1', 'run-1']);
    credentials.refresh();
    assert.deepEqual(await tokens(), ['run-2', 'run-2']);
    // From now on, what it gives has expired already: it is used once.
    clock.skip(2_000);
    assert.deepEqual(await tokens(), ['run-3', 'run-3']);
    assert.deepEqual(await tokens(), ['run-4', 'run-4']);
  });
});
