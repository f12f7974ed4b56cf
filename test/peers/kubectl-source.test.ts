import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import {
  AUTH_PROVIDER_FIELDS,
  CLUSTER_FIELDS,
  CONFIG_FIELDS,
  CONTEXT_FIELDS,
  ENVIRONMENT,
  EXEC_CREDENTIAL_FIELDS,
  EXEC_ENV_FIELDS,
  EXEC_FIELDS,
  type Fields,
  USER_FIELDS,
} from '#reconciler/cluster/kube/kubeconfig-fields.ts';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { without } from '../support/required-tools.ts';

const WITHOUT_GO = without('go', ['version'], 'nothing compares the table of fields with the source of kubectl');
const MODULE = join(import.meta.dirname, `../support/go-programs/kubernetes-${minorName(NEWEST_MINOR)}`);

async function sourceOf(module: string): Promise<string> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { cwd: MODULE });
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
}

/** What a Go type is in the table. */
const typeOf = (go: string): string => {
  if (go.startsWith('[]Named') || go === '[]ExecEnvVar') return 'maps';
  const plain: Readonly<Record<string, string>> = {
    string: 'text',
    ExecInteractiveMode: 'text',
    '*metav1.Time': 'text',
    bool: 'flag',
    '[]byte': 'bytes',
    '[]string': 'texts',
    'map[string]string': 'mapOfText',
    'map[string][]string': 'mapOfTexts',
  };
  return plain[go] ?? 'map';
};

/** The fields of a struct, by their names in JSON. */
function fieldsIn(source: string, struct: string, prefix = ''): Readonly<Record<string, string>> {
  const [, body = ''] = new RegExp(`^type ${struct} struct \\{([^]*?)^\\}`, 'm').exec(source) ?? [];
  const found = [...body.matchAll(/^\t\w+\s+(\S+)\s+`json:"([^",]+)/gm)];
  assert.ok(found.length > 0, `no struct ${struct}`);
  return Object.fromEntries(found.map(([, go = '', name = '']) => [prefix + name, typeOf(go)]));
}

const known = (fields: Fields): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([name, { type }]) => [name, type]));

describeOrSkip(`the source of kubectl ${minorName(NEWEST_MINOR)}`, { skip: WITHOUT_GO }, () => {
  it('has the fields of the table, and no others', async () => {
    const directory = await sourceOf('k8s.io/client-go');
    const config = await readFile(join(directory, 'tools/clientcmd/api/v1/types.go'), 'utf8');
    const structs: readonly (readonly [struct: string, fields: Fields])[] = [
      ['Config', CONFIG_FIELDS],
      ['Cluster', CLUSTER_FIELDS],
      ['Context', CONTEXT_FIELDS],
      ['AuthInfo', USER_FIELDS],
      ['AuthProviderConfig', AUTH_PROVIDER_FIELDS],
      ['ExecConfig', EXEC_FIELDS],
      ['ExecEnvVar', EXEC_ENV_FIELDS],
    ];
    for (const [struct, fields] of structs) assert.deepEqual(known(fields), fieldsIn(config, struct), struct);
    for (const version of ['v1', 'v1beta1']) {
      const source = await readFile(join(directory, 'pkg/apis/clientauthentication', version, 'types.go'), 'utf8');
      const spec = fieldsIn(source, 'ExecCredentialSpec', 'spec.');
      const status = fieldsIn(source, 'ExecCredentialStatus', 'status.');
      assert.deepEqual(known(EXEC_CREDENTIAL_FIELDS), { ...spec, ...status }, version);
      // test/support/kubeconfig/plugin-rows.ts has them all.
      assert.deepEqual(Object.keys(fieldsIn(source, 'Cluster')), [
        'server',
        'tls-server-name',
        'insecure-skip-tls-verify',
        'certificate-authority-data',
        'proxy-url',
        'disable-compression',
        'config',
      ]);
    }
  });

  it('reads the variables of the table on the way to an API server, and no others', async () => {
    const places: readonly (readonly [module: string, files: string])[] = [
      ['k8s.io/client-go', '{rest,transport,plugin/**,tools/clientcmd,tools/auth,util/homedir}/**/*.go'],
      ['k8s.io/apimachinery', 'pkg/util/net/*.go'],
      ['k8s.io/cli-runtime', 'pkg/genericclioptions/*.go'],
      ['k8s.io/kubectl', 'pkg/kuberc/*.go'],
      ['golang.org/x/net', 'http/httpproxy/proxy.go'],
    ];
    const read = new Set<string>();
    for (const [module, files] of places) {
      const directory = await sourceOf(module);
      for await (const file of glob(files, { cwd: directory })) {
        if (file.endsWith('_test.go')) continue;
        const text = await readFile(join(directory, file), 'utf8');
        const constants = new Map(
          [...text.matchAll(/^\s*(\w+)\s*=\s*"([A-Z][A-Z0-9_]+)"/gm)].map(([, name = '', value = '']) => [name, value]),
        );
        for (const [, said = '', name = ''] of text.matchAll(/(?:Getenv|LookupEnv)\((?:"(\w+)"|(\w+))\)/g)) {
          const variable = said === '' ? constants.get(name) : said;
          if (variable !== undefined) read.add(variable.toUpperCase());
        }
        for (const [, variable = ''] of text.matchAll(/getEnvAny\([^)]*"([A-Z_]+)"/g)) read.add(variable);
      }
    }
    // The homes of Windows, for which there is no package.
    for (const windows of ['HOMEDRIVE', 'HOMEPATH', 'USERPROFILE']) read.delete(windows);
    assert.deepEqual([...read].toSorted(), Object.keys(ENVIRONMENT).toSorted());
  });
});
