import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { decodeKubeletConfig, decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { defaultOf, existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorNumber, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { flagOver } from '#shared/contract/kubelet-config/fields/flags.ts';
import type { ComputedLeaf } from '#reconciler/policy/templates/leaf.ts';
import { describeLeaf } from '#reconciler/policy/templates/template.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { COMPUTED_KIND, readComputed } from '#reconciler/policy/config-repo/read-computed.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import type { RepoFile } from '#reconciler/policy/commit-snapshot.ts';
import { isMap } from '#shared/runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

/** One layer's word on a field. */
interface LayerValue {
  /** As it is in the repository, whatever folder of it is followed. */
  readonly file: string;
  readonly line: number | undefined;
  /** `null` takes the field back; of a computed layer, the expression with its bounds. */
  readonly value: string;
}

/** Where a field's value on a node comes from. */
export interface Explanation {
  readonly field: string;
  /** Null where no pool has the node. */
  readonly pool: string | null;
  /** In merge order; the last one counts. */
  readonly layers: readonly LayerValue[];
  /** Of a value that follows the machine, what it was computed for: `cpu=4,memory=15872Mi`; absent for others. */
  readonly machine?: string;
  /** What the pool's config says; undefined for nothing. */
  readonly configured: string | undefined;
  /** What the kubelet itself says that it runs; undefined if not asked. */
  readonly running: string | undefined;
  /** Default of this kubelet's version; undefined where there is none. */
  readonly default: string | undefined;
  /**
   * `default`: no layer says anything, and the kubelet runs its version's default. `local`: it runs something else, so its
   * own config says it, or a flag. `local-or-default`: the kubelet was not asked.
   */
  readonly source: 'layer' | 'default' | 'local' | 'local-or-default' | 'not-known-to-this-version';
  /** The flag that would win over every file; undefined where there is none. */
  readonly flag: string | undefined;
  /** The kubelet runs something else than the pool says. */
  readonly shadowed: boolean;
}

interface WhyQuestion {
  /** Dotted: `evictionHard.memory.available`. */
  readonly field: string;
  readonly pool: ValidPool | null;
  readonly files: ReadonlyMap<string, RepoFile>;
  /** The class of the node's machine, where the pool has computed values. */
  readonly machine?: string;
  readonly kubeletVersion: string;
  /** `/configz` of the node; undefined if not read. */
  readonly running: Config | undefined;
}

/** Says of one field where its value on a node comes from. Pure. */
export function explainField({ field, pool, files, machine, kubeletVersion, running }: WhyQuestion): Explanation {
  const minor = Math.min(minorNumber(kubeletVersion) ?? NEWEST_MINOR, NEWEST_MINOR);
  const spec = FIELDS.get(tablePath(field));
  const layers = pool === null ? [] : pool.spec.layers.flatMap((layer) => saysIn(files.get(layer), field));
  const configured = pool === null ? undefined : textOf(lookUp(pool.value, field));
  const actual = running === undefined ? undefined : textOf(lookUp(running, field));
  const usual = spec === undefined || spec.kind.endsWith('-map') ? undefined : defaultOf(spec, minor);
  const isUnknown = spec !== undefined && !existsIn(spec, minor);
  return {
    field,
    pool: pool?.name ?? null,
    layers,
    ...(machine !== undefined && layers.at(-1)?.value.startsWith('computed: ') === true ? { machine } : {}),
    configured,
    running: actual,
    default: usual === undefined ? undefined : abbreviateJson(usual),
    source: isUnknown ? 'not-known-to-this-version' : configured === undefined ? unsetSource(actual, usual) : 'layer',
    flag: flagOver(field),
    shadowed: pool !== null && running !== undefined && isShadowed(pool.value, running, field, kubeletVersion),
  };
}

/** Maps by what the pool says of them: the node's local config and the kubelet add keys of their own. */
function isShadowed(config: Config, running: Config, field: string, kubeletVersion: string): boolean {
  const keys = keysTo(config, field);
  if (keys.length === 0 || lookUp(running, field) === undefined) return false;
  const alone = keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), lookUp(config, field));
  return contradictions(alone as Config, running, kubeletVersion).length > 0;
}

function unsetSource(actual: string | undefined, usual: unknown): Explanation['source'] {
  if (actual === undefined) return 'local-or-default';
  const isDefault = sameValue(textOf(usual) ?? '', actual) || (usual === undefined && ZERO.has(actual));
  return isDefault ? 'default' : 'local';
}

/** As `/configz` shows an unset field without a default. */
const ZERO: ReadonlySet<string> = new Set(['0', '""', 'false', '[]', '{}', 'null', '"0s"']);

/**
 * A field as people write it, `evictionHard["memory.available"]` as findings do (shells take the quotes away), as `WhyQuestion` has it. An
 * item stands for its list: no layer changes one alone.
 */
export const dotted = (written: string): string =>
  written.replace(/\[\d+\].*/s, '').replaceAll(/\[(["']?)([^\][]+?)\1\]/g, '.$2');

/** Whether the field, or the map that it is a key of, is in the table. */
export const isField = (field: string): boolean => FIELDS.has(tablePath(field));

/** Keys of maps have dots in them too: the longest name that the table knows is the field. */
function tablePath(field: string): string {
  for (let end = field.length; end > 0; end = field.lastIndexOf('.', end - 1)) {
    const path = field.slice(0, end);
    if (FIELDS.has(path)) return path;
  }
  return field;
}

function lookUp(config: Config, field: string): unknown {
  let here: unknown = config;
  let rest = field;
  while (isMap(here)) {
    if (Object.hasOwn(here, rest)) return here[rest];
    const map: Config = here;
    const name = Object.keys(map).find((key) => rest.startsWith(`${key}.`));
    if (name === undefined) return undefined;
    here = map[name];
    rest = rest.slice(name.length + 1);
  }
  return undefined;
}

function saysIn(file: RepoFile | undefined, field: string): readonly LayerValue[] {
  if (file === undefined) return [];
  const { path } = file;
  const { value, positionOf } = decodeKubeletConfig(file.bytes, path);
  if (value === undefined) return computedIn(file, field);
  const said = lookUp(value, field);
  if (said === undefined) return [];
  const keys = keysTo(value, field);
  return [{ file: path, line: positionOf(keys)?.line, value: textOf(said) ?? 'null' }];
}

/** What a computed layer says: its expression. */
function computedIn({ bytes, path }: RepoFile, field: string): readonly LayerValue[] {
  const { value: document, positionOf: inFile } = decodeYaml(bytes, path);
  if (!isMap(document) || document['kind'] !== COMPUTED_KIND) return [];
  const { value, leaves, positionOf } = readComputed(document, fileReport(path, inFile), inFile);
  const said = lookUp(value, field);
  if (said === undefined) return [];
  const leaf = typeof said === 'string' ? leaves.get(said) : undefined;
  const line = positionOf(keysTo(value, field))?.line;
  return [{ file: path, line, value: leaf === undefined ? 'computed, key by key' : expressionIn(leaf) }];
}

const expressionIn = (leaf: ComputedLeaf): string =>
  `${describeLeaf(leaf)}${leaf.profile === undefined ? '' : `, ${leaf.expression.text}`}`;

function keysTo(config: Config, field: string): readonly string[] {
  if (Object.hasOwn(config, field)) return [field];
  const name = Object.keys(config).find((key) => field.startsWith(`${key}.`));
  const below = name === undefined ? undefined : config[name];
  return name === undefined || !isMap(below) ? [] : [name, ...keysTo(below, field.slice(name.length + 1))];
}

const textOf = (value: unknown): string | undefined =>
  value === undefined
    ? undefined
    : JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? Number(item) : item));

/** The kubelet writes durations in its own way: `10m0s` for `10m`. */
function sameValue(configured: string, actual: string): boolean {
  const plain = (text: string): string => text.replaceAll(/"|(?<=[a-z])0[ms]/g, '');
  return configured === actual || plain(configured) === plain(actual);
}
