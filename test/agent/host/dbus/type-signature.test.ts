import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseSignature, parseSingle } from '#agent/host/dbus/type-signature.ts';
import { codeOf } from '#shared/runtime/errors.ts';

const isProtocolError = (error: unknown): boolean => codeOf(error) === 'BUS_PROTOCOL';

describe('a signature of D-Bus', () => {
  it('nests 64 deep, and no deeper', () => {
    assert.equal(parseSignature(`${'a'.repeat(64)}y`).length, 1);
    assert.throws(() => parseSignature(`${'a'.repeat(65)}y`), isProtocolError);
    assert.throws(() => parseSignature(`${'('.repeat(65)}y${')'.repeat(65)}`), isProtocolError);
  });

  it('has 255 types, and no more', () => {
    assert.equal(parseSignature('y'.repeat(255)).length, 255);
    assert.throws(() => parseSignature('y'.repeat(256)), isProtocolError);
  });

  it('of a variant has one type', () => {
    assert.deepEqual(parseSingle('u'), { kind: 'basic', code: 'u' });
    for (const signature of ['', 'uu']) assert.throws(() => parseSingle(signature), isProtocolError, signature);
  });

  it('has basic keys in its dictionaries, which end', () => {
    assert.equal(parseSingle('a{sv}').kind, 'dictionary');
    for (const signature of ['a{vs}', 'a{sv', 'a{svs}', 'a{s}'])
      assert.throws(() => parseSignature(signature), isProtocolError, signature);
  });
});
