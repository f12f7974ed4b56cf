import type { Finding } from '#shared/contract/finding.ts';
import { formatPath, type Path, type PositionOf } from '#shared/contract/kubelet-config/position.ts';
import type { Layer } from '#shared/contract/kubelet-config/merge.ts';
import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { judgeNulls } from '#shared/contract/kubelet-config/rules/structure.ts';
import type { RepoFile } from '../commit-snapshot.ts';
import type { ComputedLeaf } from '../templates/leaf.ts';
import type { FileDecoder } from './file-decoder.ts';
import type { PoolSource } from './pool-source.ts';
import { caseFold } from './case-fold.ts';
import { COMPUTED_KIND, readComputed } from './read-computed.ts';
import { fileReport } from './file-report.ts';
import { isMap } from '#shared/runtime/maps.ts';

export interface ReadLayer {
  readonly layer?: Layer;
  /** Of a computed layer: what its marks stand for. */
  readonly leaves?: ReadonlyMap<string, ComputedLeaf>;
  /** What can be said of the file before it is laid over others. */
  readonly findings: readonly Finding[];
}

/**
 * One layer of a pool.
 *
 * @param at where the pool names it
 */
export function readLayer(
  path: string,
  at: Path,
  source: PoolSource,
  decoder: FileDecoder,
  positionOf: PositionOf,
): ReadLayer {
  const file = source.files.get(path);
  if (file === undefined) return { findings: [missingLayer(path, at, source, positionOf)] };
  const { value, findings: written, positionOf: inLayer } = decoder.layer(file);
  const computed = value === undefined ? computedLayer(file, decoder) : undefined;
  if (computed !== undefined) return computed;
  // The payload is written again, without merge keys.
  const findings = written.filter(({ code }) => code !== 'merge-override');
  if (value === undefined) return { findings };
  const nulls = judgeNulls(value).map(({ at: field, ...complaint }): Finding => ({
    severity: 'error',
    ...complaint,
    file: file.path,
    ...inLayer(field),
    field: formatPath(field),
  }));
  return { layer: { file: file.path, value, positionOf: inLayer }, findings: [...findings, ...nulls] };
}

/** Undefined for a file that says to be anything else. */
function computedLayer(file: RepoFile, decoder: FileDecoder): ReadLayer | undefined {
  const { value, findings, positionOf } = decoder.computed(file);
  if (!isMap(value) || value['kind'] !== COMPUTED_KIND) return undefined;
  const report = fileReport(file.path, positionOf);
  const computed = readComputed(value, report, positionOf);
  const layer = { file: file.path, value: computed.value, positionOf: computed.positionOf };
  return { layer, leaves: computed.leaves, findings: [...findings, ...report.findings] };
}

function missingLayer(path: string, at: Path, source: PoolSource, positionOf: PositionOf): Finding {
  const report = fileReport(source.shown(`pools/${source.name}/pool.yaml`), positionOf);
  const leftOut = source.leftOut.at(path);
  const near = nearest(path, [...source.files.keys()]);
  const named = source.shown(path);
  const message =
    leftOut === undefined
      ? `there is no ${named}`
      : `${named} cannot be used${leftOut.file === named ? '' : `, because of ${leftOut.file}`}: ${leftOut.message}`;
  const spelt =
    near !== undefined && near.normalize('NFC') === path.normalize('NFC')
      ? ', with its letters composed otherwise'
      : '';
  const suggestion = near === undefined ? undefined : `there is ${source.shown(near)}${spelt}`;
  report.error('missing-layer', at, message, suggestion);
  return report.findings[0] as Finding;
}

/** What may have been meant: the same name in other letters, one that is nearly the same, or the usual one of the folder. */
function nearest(path: string, files: readonly string[]): string | undefined {
  const folded = caseFold(path);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const beside = files.filter((other) => other.startsWith(folder));
  const names = beside.map((other) => other.slice(folder.length));
  const alike = didYouMean(path.slice(folder.length), names);
  return (
    files.find((other) => caseFold(other) === folded) ??
    (alike === undefined ? undefined : folder + alike) ??
    beside.find((other) => /kubelet\.(?:ya?ml|json)$/.test(other))
  );
}
