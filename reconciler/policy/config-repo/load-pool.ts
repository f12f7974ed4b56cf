import {
  configMapName,
  MAX_PAYLOAD_BYTES,
  MAX_POOL_NAME_LENGTH,
  payloadSha256,
} from '#shared/contract/config-map-hash.ts';
import { writtenKeep } from '#shared/contract/api/config-identity.ts';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { type Finding, hasErrors } from '#shared/contract/finding.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { KUBELET_CONFIG_API_VERSION, KUBELET_CONFIG_KIND } from '#shared/contract/kubelet-config/decode/decode.ts';
import { composeLayers, type Composed } from '#shared/contract/kubelet-config/merge.ts';
import { isDnsLabel } from '#shared/contract/kubelet-config/syntax/names.ts';
import { minorNumber, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { allowedFields, keptFields } from '#shared/contract/kubelet-config/field-policy.ts';
import { tolerated, withoutUnknownFields } from '#shared/contract/kubelet-config/tolerance.ts';
import { validateForAnyVersion, validateForVersions } from '#shared/contract/kubelet-config/validate-versions.ts';
import type { ComputedLeaf } from '../templates/leaf.ts';
import { templateOf } from '../templates/template.ts';
import type { RepoFile } from '../commit-snapshot.ts';
import { checkTrial } from './check-trial.ts';
import type { FileDecoder } from './file-decoder.ts';
import type { LoadedPool } from './loaded-repo.ts';
import { judgeOnExamples } from './example-machines.ts';
import type { PoolSource } from './pool-source.ts';
import { readLayer } from './read-layer.ts';
import { firstFindings } from './reading-limits.ts';
import { CLUSTER_FILE } from './read-cluster.ts';
import { readPool } from './read-pool.ts';
import { suspiciousValues } from './suspicious-values.ts';
import { fileReport } from './file-report.ts';
import { securityOf } from './security-of.ts';

type Config = Composed['value'];

/** One pool from its folder and the layers that it names. Whatever is wrong stays with this pool. */
export function loadPool(source: PoolSource, decoder: FileDecoder): LoadedPool {
  const pool = readWhole(source, decoder);
  return { ...pool, findings: firstFindings(pool.findings, source.shown(`pools/${source.name}/pool.yaml`)) };
}

function readWhole(source: PoolSource, decoder: FileDecoder): LoadedPool {
  const { name } = source;
  const path = `pools/${name}/pool.yaml`;
  const file = source.files.get(path);
  if (file === undefined) return { status: 'invalid', name, findings: [noPoolFile(source, path)] };

  const { value, findings: written, positionOf } = decoder.own(file);
  if (value === undefined) return { status: 'invalid', name, findings: written };
  const report = fileReport(file.path, positionOf);
  if (!isDnsLabel(name, MAX_POOL_NAME_LENGTH)) {
    const message = `a pool's folder has to be a DNS label of at most ${MAX_POOL_NAME_LENGTH} characters`;
    report.error('bad-name', [], `"${name}" cannot be a pool: ${message}`, 'rename the folder');
  }
  const { spec: declared, layerPlaces, deny, tolerate: own } = readPool(value, name, report);
  const clusterFile = source.cluster.file ?? CLUSTER_FILE;
  if (!hasErrors(report.findings)) checkTrial(declared, source.trials, clusterFile, report);
  const allow = allowedFields(source.fields);
  const tolerate = [...new Set([...source.cluster.tolerate, ...own])].sort();
  const spec: KubeletPoolSpec = {
    ...declared,
    ...(allow.length === 0 ? {} : { allowFields: allow }),
    ...(declared.apply === 'replace' ? writtenKeep({ keepFields: keptFields(source.fields, deny) }) : {}),
    ...(tolerate.length === 0 ? {} : { tolerate }),
  };
  const layers = spec.layers.map((layer, index) =>
    readLayer(layer, layerPlaces[index] ?? [], source, decoder, positionOf),
  );
  const findings = [
    ...written,
    ...report.findings,
    ...layers.flatMap((layer) => layer.findings).map((finding) => tolerated(finding, tolerate)),
    ...unusedFiles(spec, source, decoder),
  ];
  const read = layers.flatMap(({ layer }) => layer ?? []);
  if (hasErrors(findings) || read.length < layers.length) return { status: 'invalid', name, findings };
  const leaves = new Map(layers.flatMap((layer) => [...(layer.leaves ?? [])]));
  return render(source, spec, composeLayers(read, spec.apply), findings, deny, leaves);
}

function render(
  source: PoolSource,
  spec: KubeletPoolSpec,
  composed: Composed,
  before: readonly Finding[],
  deny: readonly string[],
  leaves: ReadonlyMap<string, ComputedLeaf>,
): LoadedPool {
  const { name, cluster } = source;
  const file = source.shown(`pools/${name}/pool.yaml`);
  const { positionOf } = composed;
  const written = { ...composed.value, apiVersion: KUBELET_CONFIG_API_VERSION, kind: KUBELET_CONFIG_KIND };
  // What every kubelet drops never gets to one: a slip that is tolerated, or fixed, restarts nothing. Newer ones may know it.
  const hasNewer = cluster.kubeletVersions.some((version) => (minorNumber(version) ?? 0) > NEWEST_MINOR);
  const known = (config: Config): Config =>
    spec.tolerate === undefined || hasNewer ? config : withoutUnknownFields(config);
  const value = known(written);
  const payload = canonicalize(value);
  const made = { payload, sha256: payloadSha256(payload), configName: configMapName(name, payload) };
  const judged = cluster.kubeletVersions;
  const about = { status: 'valid', name, spec, positionOf, judgedFor: judged, file } as const;
  const judge = (config: Config): readonly Finding[] =>
    judgeConfig(config, { ...composed, value: known(config) }, source, spec, deny);
  const whole = templateOf(written, leaves, spec.apply);
  const template = whole && templateOf(value, leaves, spec.apply);
  const verdict =
    whole === undefined
      ? judge(written)
      : judgeOnExamples({ ...about, ...made, value: written, findings: [], template: whole }, judge);
  const findings = [...before, ...composed.findings, ...verdict, ...tooLarge(payload, name, file)];
  if (hasErrors(findings)) return { status: 'invalid', name, findings };
  return { ...about, value, ...made, findings, ...(template === undefined ? {} : { template }) };
}

/** What is wrong with a config as a whole, by the checks of security, of suspicious values, and of kubelets. */
function judgeConfig(
  written: Config,
  composed: Composed,
  source: PoolSource,
  { apply, tolerate = [] }: KubeletPoolSpec,
  deny: readonly string[],
): readonly Finding[] {
  const { cluster, complaintsOf, name } = source;
  const file = source.shown(`pools/${name}/pool.yaml`);
  const options = { apply, tolerate, positionOf: composed.positionOf, file, complaintsOf };
  const judged = cluster.kubeletVersions;
  const verdict =
    judged.length > 0 ? validateForVersions(written, judged, options) : validateForAnyVersion(written, options);
  return [...securityOf(composed, file, source, deny), ...suspiciousValues(composed, file), ...verdict];
}

/** A folder without its pool.yaml is more likely a slip than a wish to unassign its nodes: those remove the folder. */
function noPoolFile({ name, files, leftOut, shown }: PoolSource, path: string): Finding {
  // The whole folder may be a link or a submodule.
  const left = leftOut.at(path);
  const misnamed = [`pools/${name}/pool.yml`, `pools/${name}/pool.json`].find((other) => files.has(other));
  const message =
    left === undefined
      ? `${shown(`pools/${name}/`)} has files and no pool.yaml`
      : `${shown(path)} cannot be used: ${left.message}`;
  const suggestion =
    misnamed === undefined
      ? 'add pool.yaml, or remove the whole folder to unassign its nodes'
      : `rename ${shown(misnamed)} to pool.yaml`;
  return { code: 'missing-pool', severity: 'error', message, suggestion, file: shown(path) };
}

/** What does not say that it is a config may be anything, such as the values of a chart. */
function unusedFiles(
  spec: KubeletPoolSpec,
  { name, files, shown }: PoolSource,
  decoder: Pick<FileDecoder, 'claims'>,
): readonly Finding[] {
  const configs = configsByPool(files).get(name) ?? [];
  const unnamed = configs.filter((path) => !path.endsWith('/pool.yaml') && !spec.layers.includes(path));
  const unused = unnamed.filter((path) => decoder.claims(files.get(path) as RepoFile));
  return unused.map((file) => ({
    code: 'unused-file',
    severity: 'warning',
    message: 'no layer of the pool beside it is this file',
    suggestion: `list it in the layers of ${shown(`pools/${name}/pool.yaml`)}, or remove it`,
    file: shown(file),
  }));
}

const byPool = new WeakMap<PoolSource['files'], ReadonlyMap<string, readonly string[]>>();

/** Once for all pools of a commit: a thousand of them would each look through all files. */
function configsByPool(files: PoolSource['files']): ReadonlyMap<string, readonly string[]> {
  const known = byPool.get(files);
  if (known !== undefined) return known;
  const configs = [...files.keys()].filter((path) => /^pools\/[^/]+\/.+\.(?:ya?ml|json)$/.test(path));
  const grouped = Map.groupBy(configs, (path) => path.split('/')[1] ?? '');
  byPool.set(files, grouped);
  return grouped;
}

function tooLarge(payload: string, name: string, file: string): readonly Finding[] {
  const bytes = Buffer.byteLength(payload);
  if (bytes <= MAX_PAYLOAD_BYTES) return [];
  const message = `the merged config of pool ${name} has ${bytes} bytes, and nodes take at most ${MAX_PAYLOAD_BYTES}`;
  const suggestion = 'shorten its layers';
  return [{ code: 'payload-too-large', severity: 'error', message, suggestion, file }];
}
