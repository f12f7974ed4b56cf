import type { ConfigIdentity } from '#shared/contract/api/config-identity.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { ConfigSourceView } from '#reconciler/policy/fleet.ts';
import { readProof } from '#reconciler/policy/proof/record.ts';
import { provenConfigOf } from '#reconciler/policy/rollout/node-progress.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Config, Side } from './compare.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

/** What was proven, and what is wanted. */
export interface Sides {
  /** The class of machines; '' in a pool that computes nothing. */
  readonly name: string;
  readonly settled: Side;
  readonly wanted: Side;
}

export type Sources = readonly ConfigSourceView[];

/**
 * What a pool settled on and what it wants, for each of its classes of machines. Pure.
 *
 * @throws GitopsError `CONFIG_SOURCE_GONE` where a ConfigMap that its status names is not there
 */
export function sidesOfPool(
  { metadata: { name }, spec, status = {} }: KubeletPool,
  sources: Sources,
): readonly Sides[] {
  const apply = spec?.apply ?? 'overlay';
  const classes = readProof(status);
  const wantedBy = status.classes ?? [{ name: '', configName: status.configName, sha256: status.sha256 }];
  return wantedBy.flatMap((each) => {
    if (each.sha256 === undefined && status.classes !== undefined) return [];
    const record = classes.get(each.name);
    const settled = record?.proven ?? record?.former ?? null;
    const wanted = each.sha256 === undefined ? null : { sha256: each.sha256, apply };
    return [{ name: each.name, settled: sideOf(settled, name, sources), wanted: sideOf(wanted, name, sources) }];
  });
}

/** The same for one node: what it falls back to, and what its class of machines is to run. Pure. @throws as `sidesOfPool` */
export function sidesOfNode(node: KubeletNode, pool: KubeletPool | undefined, sources: Sources): Sides {
  const { pool: name = '', configSource, apply = 'overlay' } = node.spec ?? {};
  const good = provenConfigOf(node);
  const all = pool === undefined ? [] : sidesOfPool(pool, sources);
  const isOf = ({ settled, wanted }: Sides): boolean => [settled.sha256, wanted.sha256].includes(good?.sha256 ?? null);
  // Which class a machine is in, only the config that it has tells.
  const own = pool?.status?.classes === undefined ? all[0] : all.find(isOf);
  const told = configSource === undefined ? null : { sha256: configSource.sha256, apply };
  const wanted = own?.wanted ?? sideOf(told, name, sources);
  const isUpToDate = (good?.sha256 ?? null) === wanted.sha256;
  const settled = isUpToDate && own !== undefined ? own.settled : sideOf(good, name, sources);
  return { name: own?.name ?? '', settled, wanted };
}

/** What a node runs by its own report: undefined for its own config, and for what nobody can tell. */
export const reportedConfig = ({ status }: KubeletNode, sources: Sources): Config | undefined =>
  payloadIn(sources.find(({ sha256 }) => sha256 !== '' && sha256 === status?.active?.sha256));

function sideOf(config: ConfigIdentity | null, pool: string, sources: Sources): Side {
  if (config === null) return { name: 'local', sha256: null, apply: 'overlay', value: null };
  const found = sources.filter(({ sha256 }) => sha256 === config.sha256);
  const source = found.find((each) => each.pool === pool) ?? found[0];
  const value = payloadIn(source);
  if (source !== undefined && value !== undefined) return { name: source.name, ...config, value };
  throw new GitopsError(
    'CONFIG_SOURCE_GONE',
    `no ConfigMap of the namespace holds the config with the SHA-256 ${config.sha256}, which pool ${pool} names: ` +
      'is --namespace that of the reconciler?',
  );
}

const payloadIn = (source: ConfigSourceView | undefined): Config | undefined =>
  jsonIn(source?.payload ?? '') as Config | undefined;
