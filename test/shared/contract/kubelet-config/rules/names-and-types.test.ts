import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FIELDS, TYPE_FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { type SchemaMismatch, schemaMismatchesIn } from '#shared/contract/kubelet-config/rules/names-and-types.ts';
import { jsonSchemaFaults, pointer } from '../support/json-schema.ts';

type Config = Readonly<Record<string, unknown>>;

const SCALARS = ['', 'text', '1', true, false, 0, -1, 1.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 1e300, null];
const VALUES = [
  ...SCALARS,
  [],
  {},
  ...SCALARS.flatMap((value) => [[value], [null, value, [value]], { a: value }, { a: [value], 'b/~c': { d: value } }]),
];
const STRANGE_NAMES = ['authentication.anonymous', 'reservedMemory[]', 'MaxPods', 'toString', '', 'a/b~c'];

const faultsOf = jsonSchemaFaults();
const written = ({ at, fault }: SchemaMismatch): string => `${pointer(at)} ${String(fault)}`;
const misfits = (config: Config): readonly string[] => [...schemaMismatchesIn(config)].map(written);

/** A config with one value at a path of the table. */
function configWith(path: string, value: unknown): Config {
  const [first = '', ...rest] = path.split('.');
  const inner = rest.length === 0 ? value : configWith(rest.join('.'), value);
  return first.endsWith('[]') ? { [first.slice(0, -2)]: [null, inner] } : { [first]: inner };
}

describe('the shape of a config', () => {
  it('fits where a JSON schema says so, for every field and every type of value', () => {
    for (const path of [...FIELDS.keys(), ...TYPE_FIELDS]) {
      for (const value of VALUES) {
        const config = configWith(path, value);
        assert.deepEqual(misfits(config).toSorted(), faultsOf(config).toSorted(), JSON.stringify(config));
      }
    }
  });

  it('knows no name that the table has elsewhere, has in other letters or has not', () => {
    const structs = [...FIELDS].filter(([, { kind }]) => kind === 'struct' || kind === 'struct-list');
    const places = structs.map(([path, { kind }]) => (kind === 'struct' ? `${path}.` : `${path}[].`));
    for (const place of ['', ...places]) {
      for (const name of STRANGE_NAMES) {
        const inner = { [name]: null };
        const config = place === '' ? inner : configWith(place.slice(0, -1), inner);
        const found = misfits(config);
        assert.equal(found.length, 1, JSON.stringify(config));
        assert.match(found[0] ?? '', / unknown$/);
        assert.deepEqual(
          found,
          faultsOf(config).map((fault) => fault.replace(/a\/b~c unknown$/, 'a~1b~0c unknown')),
        );
      }
    }
  });

  it('tells everything at once', () => {
    const config = { maxPods: '5', authentication: { anonymous: { enabled: 'no', on: 1 } }, port: 2 ** 40 + 0.5 };
    const expected = [
      '/authentication/anonymous/on unknown',
      '/authentication/anonymous/enabled boolean',
      '/maxPods integer',
      '/port integer',
      '/port range',
    ];
    assert.deepEqual(misfits(config).toSorted(), expected.toSorted());
  });

  it('takes whole numbers beyond 2^53, and measures them', () => {
    assert.deepEqual(misfits({ maxOpenFiles: 2n ** 60n, memoryThrottlingFactor: 2n ** 60n }), []);
    assert.deepEqual(misfits({ maxPods: -(2n ** 60n) }), ['/maxPods range']);
    assert.deepEqual(misfits({ maxPods: 2n ** 2000n }), ['/maxPods integer']);
    assert.deepEqual(misfits({ address: 2n ** 60n }), ['/address string']);
  });
});
