import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { hasLiteralZeros, withDropIns } from '#shared/contract/kubelet-config/drop-ins.ts';
import type { Field } from '#shared/contract/kubelet-config/fields/field.ts';
import { existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorName } from '#shared/contract/kubelet-config/minor.ts';
import { parseGoDuration } from '#shared/contract/kubelet-config/syntax/go-duration.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { valueAt, viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { isMap } from '#shared/runtime/maps.ts';
import type { Merged } from './ask-oracle.ts';
import type { Layers } from './corpus/layers.ts';

/** Where a kubelet's files come to something else for us than for its own code; undefined where it does not start with one of them. */
export function layerDifferences(
  { text, dropIns }: Layers,
  { effective, fault }: Merged,
  minor: number,
): readonly string[] | undefined {
  const [file, ...layers] = [text, ...dropIns].map((each) => decodeKubeletConfig(Buffer.from(each)));
  const isDoubled = minor > 28 && layers.some(({ findings }) => findings.some(({ code }) => code === 'duplicate-key'));
  if (isDoubled) return fault === undefined ? ['a doubled key in a drop-in is fatal here, and tolerated there'] : [];
  if (effective === undefined) return undefined;
  const config = withDropIns(
    file?.value ?? {},
    layers.map(({ value = {} }) => value),
    minorName(minor),
  );
  const view = viewOf(config, minor, 'replace');
  return [...FIELDS].flatMap(([path, field]) => {
    if (path.includes('[]') || field.kind === 'struct' || !existsIn(field, minor) || NOT_OF_FILES.has(path)) return [];
    const own = valueAt(config, path) ?? undefined;
    // A relative path is shown with the folder of its file.
    if (typeof own === 'string' && own !== '' && !own.startsWith('/') && PATHS.test(path)) return [];
    const ours = shown(hasLiteralZeros(minor) && own !== undefined ? own : view.value(path), field, path);
    const theirs = shown(valueAt(effective, path), field, path);
    return ours === theirs ? [] : [`${path} is ${ours} here, and ${theirs} there`];
  });
}

/** Spent when the file is loaded; the order of the flags' own is not that of the files. */
const NOT_OF_FILES: ReadonlySet<string> = new Set(['mergeDefaultEvictionSettings']);

const PATHS = /^(?:staticPodPath|tls.*File|authentication\.x509\.clientCAFile|resolvConf|volumePluginDir|podLogsDir)$/;

/** One text for all that means the same. What is zero is left out, as in a text of the kubelet's. */
function shown(value: unknown, field: Field | undefined, path: string): string {
  return JSON.stringify(plain(value, field, path)) ?? 'nothing';
}

function plain(value: unknown, field: Field | undefined, path: string): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => (isMap(item) ? struct(item, `${path}[].`) : (item ?? zeroIn(field))));
    return items.length === 0 ? undefined : items;
  }
  if (isMap(value)) return field?.kind.endsWith('-map') === true ? map(value, field) : struct(value, `${path}.`);
  if (typeof value === 'string' && field?.kind.startsWith('duration') === true)
    return parseGoDuration(value) === 0 ? undefined : (parseGoDuration(value) ?? value);
  if (field?.kind === 'quantity') return sizeOf(value) ?? value;
  // Any negative number is no limit.
  if (path === 'podPidsLimit' && Number(value) < 0) return -1;
  return value === '' || value === 0 || value === false || value === null ? undefined : value;
}

const sizeOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : typeof value === 'string' ? parseQuantity(value) : undefined;

const zeroIn = (field: Field | undefined): unknown => (field?.kind === 'int32-list' ? 0 : '');

const map = (value: object, { kind }: Field): unknown => {
  const zero = kind === 'bool-map' ? false : kind === 'string-list-map' ? null : '';
  const entries = Object.entries(value).map(([key, item]) => [key, amount(item ?? zero, kind)] as const);
  return entries.length === 0 ? undefined : entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
};

const amount = (item: unknown, kind: string): unknown =>
  kind === 'quantity-map' ? (sizeOf(item) ?? 0) : Array.isArray(item) ? item.map((text: unknown) => text ?? '') : item;

const struct = (value: object, prefix: string): unknown =>
  Object.entries(value)
    .map(([name, item]) => [name, plain(item, FIELDS.get(`${prefix}${name}`), `${prefix}${name}`)] as const)
    .filter(([, item]) => item !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
