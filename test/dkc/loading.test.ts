import assert from 'node:assert/strict';
import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { STATE } from '../support/agent/whole-node.ts';
import { see, table } from './scenario.ts';
import { stagingBench } from './support/staging.ts';

const YAML = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const JSON_TEXT = '{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}';

const decode = (text: string) => decodeKubeletConfig(Buffer.from(text), 'kubelet.yaml');

/** What an agent says that is given such a payload, with a name and a SHA-256 that fit it. */
async function stage(payload: string) {
  const bench = stagingBench();
  return bench.stage({ ...bench.source({ kubelet: payload }), allowFields: ['staticPodPath'] });
}

/** Neither CI nor an agent lets it through, and both say where it is wrong. */
async function isRefused(text: string, code: string, line: number | undefined): Promise<void> {
  const { value, findings } = decode(text);
  const judged = [...findings, ...(value === undefined ? [] : validateKubeletConfig(value, { minor: '1.34' }))];
  const found = judged.find((each) => each.code === code);
  assert.ok(found !== undefined, JSON.stringify(judged));
  assert.equal(found.severity, 'error');
  if (line !== undefined) assert.deepEqual([found.file, found.line], ['kubelet.yaml', line]);
  const staged = await stage(text);
  assert.ok(staged.outcome === 'refused', staged.outcome);
  assert.equal(staged.failure.reason, 'ConfigInvalid');
}

const differences = (meant: Readonly<Record<string, unknown>>, running: Readonly<Record<string, unknown>>) =>
  contradictions({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...meant }, running);

/** The payload with one field of a struct: `authentication.x509.clientCAFile`. */
function nested(path: string, value: unknown): Readonly<Record<string, unknown>> {
  const whole = path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return whole as Readonly<Record<string, unknown>>;
}

const JOINED = '/var/lib/kubelet/some/where';

/** Texts that name a file or a directory, and that a kubelet takes as they are. */
const TAKEN_AS_THEY_ARE = new Set([
  'cgroupRoot',
  'kubeletCgroups',
  'systemCgroups',
  'kubeReservedCgroup',
  'systemReservedCgroup',
]);

export const scenarios = see('reading a config', [
  ...(
    [
      [9, 'no data', null],
      [10, 'empty data', {}],
      [92, 'another key', { other: YAML }],
    ] as const
  ).map(([dkc, what, data]) => ({
    dkc,
    title: `a ConfigMap with ${what} has nothing for the kubelet, and that is said`,
    async see() {
      const bench = stagingBench();
      const staged = await bench.stage(bench.source(data));
      assert.ok(staged.outcome === 'unavailable');
      assert.equal(staged.failure.reason, 'PayloadMismatch');
      assert.match(staged.failure.message, /has no key kubelet/);
      assert.deepEqual(await bench.disk.list(`${STATE}/checkpoints`), []);
    },
  })),
  ...table(
    93,
    [
      ['that is empty', '', 'empty-file', undefined],
      ['that is no YAML', '*', 'yaml-syntax', 1],
      ['that is no JSON', '{*', 'json-syntax', 1],
      ['without a kind', 'apiVersion: kubelet.config.k8s.io/v1beta1\n', 'wrong-kind', undefined],
      ['without a version', 'kind: KubeletConfiguration\n', 'wrong-kind', undefined],
      ['of another kind', YAML.replace('KubeletConfiguration', 'KubeProxyConfiguration'), 'wrong-kind', 2],
      ['of another version', YAML.replace('v1beta1', 'v1'), 'wrong-kind', 1],
    ] as const,
    ([what]) => `a file ${what} is refused before any kubelet reads it`,
    ([, text, code, line]) => isRefused(text, code, line),
  ),
  ...table(
    100,
    [
      ['YAML', YAML],
      ['JSON', JSON_TEXT],
    ] as const,
    ([dialect]) => `kind and version alone, in ${dialect}, are a config: all of it is the kubelet's defaults`,
    async ([, text]) => {
      const { value = {}, findings } = decode(text);
      assert.deepEqual(findings, []);
      for (const minor of ['1.20', '1.28', '1.36']) assert.deepEqual(validateKubeletConfig(value, { minor }), []);
      assert.equal(canonicalize(value), canonicalize({}));
      assert.deepEqual(await stage(text), { outcome: 'ready', warnings: [] });
      assert.deepEqual(contradictions(value, { maxPods: 110, staticPodPath: '/etc/kubernetes/manifests' }), []);
    },
  ),
  ...table(
    102,
    [
      ['YAML', `${YAML}staticPodPath: pods\n`],
      ['JSON', JSON_TEXT.replace('{', '{"staticPodPath": "pods", ')],
    ] as const,
    ([dialect]) => `a relative path, in ${dialect}, is what the kubelet makes of it, and no contradiction`,
    async ([, text]) => {
      const { value = {} } = decode(text);
      assert.equal((await stage(text)).outcome, 'ready');
      assert.deepEqual(contradictions(value, { staticPodPath: '/var/lib/kubelet/pods' }), []);
      assert.equal(contradictions(value, { staticPodPath: '/var/lib/kubelet/manifests' }).length, 1);
    },
  ),
  {
    dkc: 104,
    title: 'a field that is there twice is refused, with the line of the second',
    see: () => isRefused(`${YAML}maxPods: 1\nmaxPods: 2\n`, 'duplicate-key', 4),
  },
  {
    dkc: 105,
    title: 'a field that no kubelet knows is refused, and not silently dropped',
    see: () => isRefused(`${YAML}maxPodz: 1\n`, 'unknown-field', undefined),
  },
  ...table(
    106,
    [
      ['an empty path stays empty', '', '', true],
      ['an absolute path stays as it is', '/some/where', '/some/where', true],
      ['a relative path is joined to the directory of its file', 'some/where', JOINED, true],
    ] as const,
    ([what]) => `${what}, and only that is as meant`,
    ([, meant, running]) => {
      assert.deepEqual(differences({ volumePluginDir: meant }, { volumePluginDir: running }), []);
      const other = differences({ volumePluginDir: meant }, { volumePluginDir: '/else/where' });
      // The kubelet has a default for what is empty.
      assert.equal(other.length, meant === '' ? 0 : 1);
    },
  ),
  {
    dkc: 109,
    title: 'every field that is a path is known to be one',
    see() {
      const paths = [...FIELDS].filter(
        ([path, { kind }]) => kind === 'string' && /(path|file|dir|conf|root|cgroups?)$/i.test(path),
      );
      assert.ok(paths.length >= 10, String(paths.length));
      for (const [path] of paths) {
        const isJoined = differences(nested(path, 'some/where'), nested(path, JOINED)).length === 0;
        assert.equal(isJoined, !TAKEN_AS_THEY_ARE.has(path), path);
      }
    },
  },
]);
