import { fc } from '../../../support/property.ts';
import { stringify } from 'yaml';
import type { Reference } from '#agent/checkpoint/reference.ts';
import { CONFIG_SOURCE_PATTERNS } from '#agent/decide/assignment/intent.ts';
import { rebootToOrder } from '#agent/decide/assignment/reboot-order.ts';
import { termsToSpec } from '#agent/decide/assignment/terms.ts';
import type { Config } from '#agent/decide/state.ts';
import { AT } from '../../../support/agent/states.ts';

const WORDS = [
  '~ null Null true True TRUE yes y N on OFF off << = @ ` 0 41 -1 +1 007 0777 08 0o17 0O17 0x1F 0X1F 0b11 0B11 0x 1_000 _1',
  '1e3 1E3 1e e3 .5 5. . .. ... --- 1.5 .inf -.INF .NaN +.nan 1.e5 1:20 1:20:30.5 1:99 12:30 2026-03-03 2026-3-3 2026-03-03T',
  "a: :a : a:b a#b # -a - -- ?a ? !a !!str &a *a | > |- %YAML [a] , ] } \\ \\u0041 a\\ \" ' \"a\" 'a' \"' it's zürich 日本 😀",
];

const WITH_BLANKS = ['', ' ', ' a', 'a ', 'a  b', 'a: b', 'a #b', '# a', '- a', '? a', '{a: b}', 'a, b', 'say "so"'];
const WITH_TABS = ['tab\there', '\ttab', 'tab\t', 'a\t#b'];
const UNUSUAL = ['2026-03-03 03:03:03 +1', AT, 'it\'s "so"', '\u00A0', '\u200B', '\uFEFF', '\uFFFF'];
const LONG = ['x'.repeat(300), `${'word '.repeat(60)}end`, '1'.repeat(40)];

/** Texts that YAML readers take for something else, or for syntax, in one place or another. */
export const TRICKY: readonly string[] = [
  ...WORDS.flatMap((words) => words.split(' ')),
  ...WITH_BLANKS,
  ...WITH_TABS,
  ...UNUSUAL,
  ...LONG,
];

/** Texts of one line, without control characters. */
export const lines = fc
  .oneof(
    fc.constantFrom(...TRICKY),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...Array.from('"\'\\:#-?!&*|>%@`{}[], \t0189_.+eExXoObBnyNYtT~=<')) }),
    fc.tuple(fc.constantFrom(...TRICKY), fc.constantFrom(...TRICKY)).map((parts) => parts.join('')),
  )
  // oxlint-disable-next-line no-control-regex
  .filter((text) => !/[\0-\u0008\n-\u001F\u007F-\u009F\u2028\u2029]/.test(text));

const BREAKS = ['\n', '\r', '\r\n', '\0', '\u001B', '\u007F', '\u0085', '\u2028', '\u2029', '\n\n', ' \n', '\n '];

/** Any texts. */
export const anyTexts = fc
  .array(fc.oneof(lines, fc.constantFrom(...BREAKS)), { maxLength: 5 })
  .map((parts) => parts.join(''));

/** Parts of a config source, of the characters that one may have. */
function shaped(shape: RegExp): fc.Arbitrary<string> {
  const characters = fc.constantFrom(
    ...'0123456789abcdefABCDEFxXoOeEyYnN-._'.split('').filter((char) => shape.test(`a${char}a`)),
  );
  const tricky = fc.constantFrom('a'.repeat(64), ...TRICKY.filter((text) => shape.test(text)));
  return fc.oneof(tricky, fc.string({ unit: characters })).filter((text) => shape.test(text));
}

/** References with such texts wherever the API server does not say what a text may be. */
export function references(texts: fc.Arbitrary<string>): fc.Arbitrary<Reference & { readonly target: Config }> {
  const { namespace, name, uid, resourceVersion, key } = CONFIG_SOURCE_PATTERNS;
  const source = fc.record({
    namespace: shaped(namespace),
    name: shaped(name),
    uid: shaped(uid),
    resourceVersion: shaped(resourceVersion),
    key: shaped(key),
    sha256: fc.oneof(fc.stringMatching(/^[0-9]{62}e[0-9]$/), fc.stringMatching(/^[0-9a-f]{64}$/)),
  });
  const spans = fc.integer({ min: 0, max: 100_000_000 });
  const target: fc.Arbitrary<Config> = fc.record(
    {
      source,
      apply: fc.constantFrom('overlay', 'replace'),
      trial: fc.record({ durationMs: spans, startTimeoutMs: spans, maxRestarts: fc.nat() }),
      drift: fc.constantFrom('repair', 'report'),
      allowFields: fc.array(texts, { maxLength: 4 }),
      tolerate: fc.array(texts, { maxLength: 4 }),
      reboot: fc.record({
        by: fc.constantFrom('systemd', 'sentinel'),
        boot: fc.stringMatching(/^[0-9A-Za-z-]{1,64}$/),
        timeoutMs: fc.integer({ min: 1, max: 100_000_000 }),
      }),
      pool: texts,
      commit: texts,
    },
    { requiredKeys: ['source', 'apply', 'trial', 'drift', 'allowFields', 'tolerate'] },
  );
  return fc
    .record({ target, promotedAt: fc.option(fc.oneof(fc.constant(AT), texts)) })
    .map((reference) => structuredClone(reference));
}

/** What the file says, written out here once more. */
export function documentOf({ target, promotedAt }: Reference & { readonly target: Config }): unknown {
  const { source, apply, trial, drift, allowFields, tolerate, reboot, pool, commit } = target;
  const { sha256, key, ...where } = source;
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'SerializedNodeConfigSource',
    kubeletGitops: {
      apply,
      sha256,
      trial: termsToSpec(trial),
      version: 1,
      ...(drift === 'report' && { drift }),
      ...(allowFields.length > 0 && { allowFields }),
      ...(tolerate.length > 0 && { tolerate }),
      ...(reboot !== undefined && { reboot: rebootToOrder(reboot) }),
      ...(pool !== undefined && { pool }),
      ...(commit !== undefined && { commit }),
      ...(promotedAt !== null && { promotedAt }),
    },
    source: { configMap: { ...where, kubeletConfigKey: key } },
  };
}

/** As earlier releases wrote the file. */
export const byLibrary = (document: unknown): string =>
  stringify(document, { version: '1.1', sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false });
