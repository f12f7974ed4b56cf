import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import type { InstallPlan } from '#agent/ports/installer.ts';
import type { Preflight } from '#agent/ports/preflight.ts';
import type { StageResult } from '#agent/decide/observation.ts';
import { stageConfig } from '#agent/staging/stage.ts';
import type { Config } from '#agent/decide/state.ts';
import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { appendHash, configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { GitopsError, type Disposition } from '#shared/runtime/errors.ts';
import { createFakeKube } from '../../support/agent/fake-kube.ts';
import { createMemoryDisk } from '../../support/agent/memory-disk.ts';
import { A } from '../../support/agent/states.ts';
import { payloadOf } from '../../support/agent/whole-node.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Setting {
  readonly payload?: string;
  readonly apply?: ApplyMode;
  /** The node's own config. */
  readonly local?: Fields;
  /** What the installer makes of both; the payload over the node's own where that is left out. */
  readonly effective?: Fields;
  readonly data?: Readonly<Record<string, string>> | null;
  readonly name?: string;
  readonly version?: string | null;
  /** What the assignment allows and tolerates. */
  readonly allowFields?: readonly string[];
  readonly tolerate?: readonly string[];
  /** What this node denies. */
  readonly denyFields?: readonly string[];
  readonly preflight?: Preflight;
  readonly beforeDrain?: boolean;
  readonly installError?: Disposition;
  readonly away?: boolean;
  readonly fullDisk?: boolean;
}

const PAYLOAD = payloadOf({ maxPods: 100 });
const ofBytes = (size: number): string => PAYLOAD.padEnd(size);
const AWAY: Finding = { code: 'runtime-away', severity: 'error', message: 'no runtime' };
const PODS: Finding = { code: 'pods-keep-user-ids', severity: 'error', message: 'pods' };
const NEVER = new AbortController().signal;

async function stage(setting: Setting) {
  const { payload = PAYLOAD, apply = 'overlay', local = {}, version = 'v1.34.2' } = setting;
  const name = setting.name ?? configMapName('general', payload);
  const { allowFields = [], tolerate = [], denyFields = [] } = setting;
  const config: Config = {
    ...A,
    apply,
    allowFields,
    tolerate,
    source: { ...A.source, name, sha256: payloadSha256(payload) },
  };
  const kube = createFakeKube();
  const data = setting.data === undefined ? { kubelet: payload } : setting.data;
  kube.put('configmaps', { metadata: { name, namespace: 'kubelet-gitops' }, ...(data === null ? {} : { data }) });
  if (data === null) kube.remove('configmaps', name);
  kube.setAway(setting.away === true);
  const disk = createMemoryDisk();
  if (setting.fullDisk === true) disk.failAfter(0);
  const { payloads } = createCheckpointStore(disk, '/state', 'node-a');
  const plan = (effective: Fields): InstallPlan => ({ method: 'file', effective, files: [] });
  const run = (): Promise<StageResult> =>
    stageConfig(
      config,
      {
        kube,
        payloads,
        validate: validateKubeletConfig,
        denyFields,
        preflight: setting.preflight ?? (() => []),
        ...(setting.beforeDrain === undefined ? {} : { beforeDrain: setting.beforeDrain }),
        lookAtNode: async () =>
          version === null ? { kubeletVersion: undefined, problem: 'nobody may ask' } : { kubeletVersion: version },
        installer: {
          async plan(installable) {
            if (installable === null) return plan(local);
            if (setting.installError !== undefined) {
              throw new GitopsError('INSTALL_X', 'no way to install it', { disposition: setting.installError });
            }
            return plan(setting.effective ?? { ...local, ...(JSON.parse(installable.payload) as Fields) });
          },
        },
      },
      NEVER,
    );
  const result = await run();
  return { result, run, kube, checkpoint: disk.tree()[`/state/checkpoints/uid-a/41/kubelet`] };
}

const show = (result: StageResult): string =>
  result.outcome === 'ready' ? 'ready' : `${result.outcome} ${result.failure.reason}: ${result.failure.message}`;

describe('staging', () => {
  it('makes a checkpoint of what was assigned, byte for byte', async () => {
    const { result, checkpoint } = await stage({});
    assert.deepEqual(result, { outcome: 'ready', warnings: [] });
    assert.equal(checkpoint, PAYLOAD);
  });

  it('does not fetch what is on disk already, so that it needs no API server', async () => {
    const { run, kube } = await stage({});
    kube.setAway(true);
    kube.calls.length = 0;
    assert.deepEqual(await run(), { outcome: 'ready', warnings: [] });
    assert.deepEqual(kube.calls, []);
  });

  const otherData = { kubelet: payloadOf({ maxPods: 9999 }) };
  const rows: readonly (readonly [string, Setting, RegExp])[] = [
    [
      'waits for a ConfigMap that is not there',
      { data: null },
      /^unavailable ConfigMapNotFound: ConfigMap kubelet-gitops\/general-\w+ is not there/,
    ],
    [
      'waits for an API server that is away',
      { away: true },
      /^unavailable DownloadFailed: .*no answer from the API server/,
    ],
    [
      'takes no other content',
      { data: otherData },
      /^unavailable PayloadMismatch: .* its SHA-256 is \w{64}, not \w{64}/,
    ],
    [
      'takes no ConfigMap without the key',
      { data: { other: PAYLOAD } },
      /^unavailable PayloadMismatch: .* has no key kubelet/,
    ],
    [
      'takes no name that is not the hash of the content',
      { name: 'general-bbbbbbbbbb' },
      /^unavailable PayloadMismatch: .* should end in \w{10}/,
    ],
    [
      'takes nothing beside the payload that the name does not cover',
      { data: { kubelet: PAYLOAD, more: 'x' } },
      /^unavailable PayloadMismatch/,
    ],
    ['takes a payload of 256 KiB', { payload: ofBytes(262_144) }, /^ready$/],
    [
      'refuses one that is a byte bigger: no kubelet needs it',
      { payload: ofBytes(262_145) },
      /^refused ConfigInvalid: the file has 262145 bytes, more than the 262144/,
    ],
    ['fetches a payload of a million bytes', { payload: ofBytes(1_000_000) }, /^refused ConfigInvalid/],
    [
      'takes none from a ConfigMap that is a byte bigger',
      { payload: ofBytes(1_000_001) },
      /^unavailable PayloadMismatch: .* bytes, more than a payload may/,
    ],
    ['says when the disk is full', { fullDisk: true }, /^unavailable CheckpointFailed: .*the disk is full/],
    [
      'waits for the kubelet’s version',
      { version: null },
      /^unavailable VersionUnknown: the kubelet's version is not known: nobody may ask$/,
    ],
    [
      'refuses what is no KubeletConfiguration',
      { payload: 'maxPods: 100\n' },
      /^refused ConfigInvalid: apiVersion is missing/,
    ],
    [
      'refuses what this kubelet would not start with',
      { payload: payloadOf({ imageGCHighThresholdPercent: 400 }) },
      /^refused ConfigInvalid: .*imageGCHighThresholdPercent/,
    ],
    [
      'refuses what this kubelet does not know, by its version',
      { payload: payloadOf({ crashLoopBackOff: { maxContainerRestartPeriod: '1m' } }), version: 'v1.28.1' },
      /^refused ConfigInvalid: .*crashLoopBackOff/,
    ],
    [
      'lives with what this kubelet drops, where the assignment says so',
      {
        payload: payloadOf({ crashLoopBackOff: { maxContainerRestartPeriod: '1m' } }),
        version: 'v1.28.1',
        tolerate: ['unknown-field'],
      },
      /^ready$/,
    ],
    [
      'tolerates nothing that keeps the kubelet from starting',
      {
        payload: payloadOf({ imageGCHighThresholdPercent: 400 }),
        tolerate: ['unknown-field', 'out-of-range', 'invalid-value'],
      },
      /^refused ConfigInvalid: .*imageGCHighThresholdPercent/,
    ],
    [
      'refuses a field that nobody allowed, although the reconciler let it through',
      { payload: payloadOf({ port: 10251, authentication: { anonymous: { enabled: true } } }) },
      /^refused FieldDenied: port may not be set on this node: .*; authentication\.anonymous\.enabled may not be set/,
    ],
    [
      'takes a field that the assignment allows',
      { payload: payloadOf({ port: 10251 }), allowFields: ['port'] },
      /^ready$/,
    ],
    [
      'takes an allowance for what it names alone',
      {
        payload: payloadOf({ authentication: { webhook: { enabled: true }, x509: { clientCAFile: '/ca' } } }),
        allowFields: ['authentication.webhook'],
      },
      /^refused FieldDenied: authentication\.x509\.clientCAFile may not be set on this node: [^,;]* or us out$/,
    ],
    [
      'refuses what this node denies, whatever the assignment allows',
      { payload: payloadOf({ port: 10251 }), allowFields: ['port'], denyFields: ['port'] },
      /^refused FieldDenied: port may not be set on this node/,
    ],
    [
      'lets no assignment allow what is denied by default, where the node says so',
      { payload: payloadOf({ port: 10251 }), allowFields: ['port'], denyFields: ['default'] },
      /^refused FieldDenied: port may not be set on this node/,
    ],
    [
      'refuses to lose what this node denies and has itself, where a config takes the place of its own',
      {
        payload: payloadOf({ maxPods: 50 }),
        apply: 'replace',
        local: { staticPodPath: '/etc/kubernetes/manifests', tlsMinVersion: 'VersionTLS13', podPidsLimit: 9 },
        effective: { maxPods: 50 },
        denyFields: ['default', 'tlsMinVersion'],
      },
      /^refused FieldDenied: staticPodPath of the node's own config would get another value, .*; tlsMinVersion of the/,
    ],
    [
      'takes a config that keeps it',
      {
        payload: payloadOf({ maxPods: 50 }),
        apply: 'replace',
        local: { staticPodPath: '/etc/kubernetes/manifests' },
        effective: { maxPods: 50, staticPodPath: '/etc/kubernetes/manifests' },
        denyFields: ['default'],
      },
      /^ready$/,
    ],
    [
      'takes a value that shuts what it could open, also then',
      { payload: payloadOf({ readOnlyPort: 0, enableProfilingHandler: false }), denyFields: ['default'] },
      /^ready$/,
    ],
    [
      'refuses what has the kubelet run the programs of others',
      { payload: payloadOf({ volumePluginDir: '/tmp/plugins', readOnlyPort: 10255 }) },
      /^refused FieldDenied: volumePluginDir may not be set on this node: .*; readOnlyPort may not be set on this node: it opens/,
    ],
    [
      'denies what is below a field as well, and fields that are allowed by default',
      { payload: payloadOf({ evictionHard: { 'memory.available': '1Gi' } }), denyFields: ['evictionHard'] },
      /^refused FieldDenied: evictionHard\["memory\.available"\] may not be set on this node/,
    ],
    [
      'counts taking a denied field back as setting it',
      { payload: payloadOf({ authorization: null }) },
      /^refused FieldDenied: authorization /,
    ],
    [
      'does not deny what the node’s own config says',
      { local: { port: 10251, authentication: { anonymous: { enabled: true } } } },
      /^ready$/,
    ],
    [
      'shows the first of many mistakes',
      { payload: payloadOf({ a: 1, b: 2, c: 3, d: 4, e: 5 }) },
      /^refused ConfigInvalid: .*\(and \d more\)$/,
    ],
    [
      'refuses what does not go with the node’s own config',
      { payload: payloadOf({ imageGCLowThresholdPercent: 90 }), local: { imageGCHighThresholdPercent: 85 } },
      /^refused ConfigInvalid: .*imageGC/,
    ],
    [
      'does not blame the payload for the node’s own config',
      { local: { imageGCHighThresholdPercent: 400 } },
      /^ready$/,
    ],
    [
      'refuses what preflight finds',
      {
        preflight: ({ maxPods }, minor) => [
          { code: 'x', severity: 'error', message: `${String(maxPods)} on ${minor}` },
        ],
      },
      /^refused PreflightFailed: 100 on v1\.34\.2$/,
    ],
    [
      'waits for what passes by itself',
      { preflight: () => [AWAY, { code: 'x', severity: 'warning', message: 'hm' }] },
      /^unavailable PreflightFailed: no runtime$/,
    ],
    [
      'does not wait where something else speaks against it as well',
      { preflight: () => [AWAY, { code: 'x', severity: 'error', message: 'no CPU' }] },
      /^refused PreflightFailed: no runtime; no CPU$/,
    ],
    [
      'waits until pods have ended that stand in the way',
      { preflight: () => [PODS] },
      /^unavailable PreflightFailed: pods$/,
    ],
    ['minds no pods that are yet to be told to leave', { preflight: () => [PODS], beforeDrain: true }, /^ready$/],
    [
      'leaves it to preflight, which sees the flags, whether static managers have what they need',
      {
        apply: 'replace',
        payload: payloadOf({ cpuManagerPolicy: 'static', memoryManagerPolicy: 'Static' }),
      },
      /^ready$/,
    ],
    ['lets warnings pass', { preflight: () => [{ code: 'x', severity: 'warning', message: 'hm' }] }, /^ready$/],
    [
      'refuses what can never be installed',
      { installError: { kind: 'stalled', until: 'operator' } },
      /^refused CannotInstall: no way to install it$/,
    ],
    ['tries again what cannot be installed now', { installError: { kind: 'retry' } }, /^unavailable CannotInstall/],
    [
      'takes a payload in place of the local config without looking at that',
      { apply: 'replace', local: { imageGCHighThresholdPercent: 400 } },
      /^ready$/,
    ],
  ];
  for (const [title, setting, expected] of rows) {
    it(title, async () => {
      assert.match(show((await stage(setting)).result), expected);
    });
  }

  it('takes a name for another pool, as long as it is the hash of the content', async () => {
    const hash = appendHash({ name: 'a-b-c', data: { kubelet: PAYLOAD } });
    assert.deepEqual((await stage({ name: `a-b-c-${hash}` })).result, { outcome: 'ready', warnings: [] });
  });
});
