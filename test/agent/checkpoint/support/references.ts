import { fc } from '../../../support/property.ts';
import type { Reference } from '#agent/checkpoint/reference.ts';
import { CONFIG_SOURCE_PATTERNS } from '#agent/decide/assignment/intent.ts';
import { rebootToOrder } from '#agent/decide/assignment/reboot-order.ts';
import { termsToSpec } from '#agent/decide/assignment/terms.ts';
import type { Config } from '#agent/decide/state.ts';
import { AT } from '../../../support/agent/states.ts';

/** Texts that readers may take for something else, or for syntax. */
const TRICKY = [
  '',
  '~',
  'null',
  'yes',
  '0',
  '0o17',
  '1e3',
  '1:20',
  AT,
  'a: b',
  '- a',
  '# a',
  '"a\'',
  '\\u0041',
  '\t',
  '\n',
  '\u2028',
  '日本',
];

const texts = fc.oneof(fc.constantFrom(...TRICKY), fc.string({ unit: 'grapheme' }));

/** Parts of a config source, of the characters that one may have. */
function shaped(shape: RegExp): fc.Arbitrary<string> {
  const characters = fc.constantFrom(
    ...'0123456789abcdefABCDEFxXoOeEyYnN-._'.split('').filter((char) => shape.test(`a${char}a`)),
  );
  return fc.string({ unit: characters }).filter((text) => shape.test(text));
}

/** References with such texts wherever the API server does not say what a text may be. */
export const references = (() => {
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
      keepFields: fc.array(texts, { maxLength: 4 }),
      tolerate: fc.array(texts, { maxLength: 4 }),
      reboot: fc.record({
        by: fc.constantFrom('systemd', 'sentinel'),
        boot: fc.stringMatching(/^[0-9A-Za-z-]{1,64}$/),
        timeoutMs: fc.integer({ min: 1, max: 100_000_000 }),
      }),
      pool: texts,
      commit: texts,
    },
    { requiredKeys: ['source', 'apply', 'trial', 'drift', 'allowFields', 'keepFields', 'tolerate'] },
  );
  return fc
    .record({ target, promotedAt: fc.option(fc.oneof(fc.constant(AT), texts)) })
    .map((reference): Reference & { readonly target: Config } => structuredClone(reference));
})();

/** What the file says, written out here once more. */
export function documentOf({ target, promotedAt }: Reference & { readonly target: Config }): unknown {
  const { source, apply, trial, drift, allowFields, keepFields, tolerate, reboot, pool, commit } = target;
  const { sha256, key, ...where } = source;
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'SerializedNodeConfigSource',
    kubeletGitops: {
      apply,
      sha256,
      trial: termsToSpec(trial),
      version: 2,
      node: 'node-a',
      ...(drift === 'report' && { drift }),
      ...(allowFields.length > 0 && { allowFields }),
      ...(keepFields.length > 0 && { keepFields }),
      ...(tolerate.length > 0 && { tolerate }),
      ...(reboot !== undefined && { reboot: rebootToOrder(reboot) }),
      ...(pool !== undefined && { pool }),
      ...(commit !== undefined && { commit }),
      ...(promotedAt !== null && { promotedAt }),
    },
    source: { configMap: { ...where, kubeletConfigKey: key } },
  };
}
