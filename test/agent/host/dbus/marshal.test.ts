import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll, forAllOf } from '../../../support/property.ts';
import { createFraming } from '#agent/host/dbus/framing.ts';
import { encodeMessage, MAX_MESSAGE_BYTES, type Message } from '#agent/host/dbus/message.ts';
import { unmarshal } from '#agent/host/dbus/unmarshal.ts';
import { marshal } from '#agent/host/dbus/marshal.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { typedValues } from './support/values.ts';

const isProtocolError = (error: unknown): boolean => codeOf(error) === 'BUS_PROTOCOL';
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

describe('D-Bus values', () => {
  it('are read as they were written, whatever their types', () => {
    forAllOf(500, typedValues, (typed) => {
      const signature = typed.map((one) => one.signature).join('');
      const values = typed.map((one) => one.value);
      assert.deepEqual(unmarshal(signature, marshal(signature, values), true), values);
    });
  });

  it('are laid out as the specification has it, padding included', () => {
    assert.deepEqual(marshal('ys', [7, 'foo']), hex('07 000000 03000000 666f6f00'));
    // The length of an array does not count the padding before its first item.
    assert.deepEqual(marshal('at', [[1n]]), hex('08000000 00000000 0100000000000000'));
    assert.deepEqual(marshal('at', [[]]), hex('00000000 00000000'));
    assert.deepEqual(
      marshal('a{sv}', [new Map([['a', { signature: 'u', value: 1 }]])]),
      hex('10000000 00000000 01000000 6100 01 7500 000000 01000000'.replaceAll(' ', '')),
    );
  });

  it('are read from big-endian peers, too', () => {
    const bytes = hex('00000002 0000 0000 3ff0000000000000 fffe 0000 ffffffff 0000000000000001');
    assert.deepEqual(unmarshal('udnit', bytes, false), [2, 1, -2, -1, 1n]);
  });

  it('are refused where they do not fit their type', () => {
    const wrong: readonly (readonly [string, unknown])[] = [
      ['u', -1],
      ['u', 1.5],
      ['y', 256],
      ['t', 1],
      ['b', 1],
      ['s', 'a\0b'],
      ['as', 'text'],
      ['(ss)', ['one']],
      ['v', 'text'],
      ['a{ss}', {}],
      ['h', 0],
      ['(', []],
      ['a', []],
      ['()', []],
      ['a{vs}', new Map()],
    ];
    for (const [signature, value] of wrong) {
      assert.throws(() => marshal(signature, [value as never]), isProtocolError, `${signature} ${String(value)}`);
    }
  });
});

describe('bytes from the bus', () => {
  it('give values or a protocol error, never anything else, however damaged they are', () => {
    const damage = fc.record({ at: fc.nat(), byte: fc.nat(255), cut: fc.nat() });
    forAllOf(1000, typedValues, damage, fc.boolean(), (typed, { at, byte, cut }, littleEndian) => {
      const signature = typed.map((one) => one.signature).join('');
      const whole = Buffer.from(
        marshal(
          signature,
          typed.map((one) => one.value),
        ),
      );
      if (whole.length > 0) whole[at % whole.length] = byte;
      const bytes = whole.subarray(0, whole.length - (cut % (whole.length + 1)) * (byte % 2));
      try {
        unmarshal(signature, bytes, littleEndian);
      } catch (error) {
        assert.ok(isProtocolError(error), String(error));
      }
    });
  });

  it('cannot make the reader recurse without end', () => {
    const nested = Buffer.concat([...Array(200).fill(hex('01 76 00')), hex('01 79 00 00')]);
    assert.throws(() => unmarshal('v', nested, true), isProtocolError);
  });
});

describe('messages', () => {
  const message: Message = {
    kind: 'signal',
    serial: 7,
    path: '/org/freedesktop/systemd1',
    interface: 'org.freedesktop.systemd1.Manager',
    member: 'Reloading',
    sender: ':1.2',
    signature: 'bs',
    body: [true, 'text'],
  };

  it('come out of the stream whole, however it is cut', () => {
    const stream = Buffer.concat([1, 2, 3].map((serial) => encodeMessage({ ...message, serial })));
    forAll(fc.array(fc.nat(stream.length), { maxLength: 20 }), (cuts) => {
      const framing = createFraming();
      const edges = [0, ...cuts.toSorted((one, other) => one - other), stream.length];
      const heard = edges.flatMap((edge, index) => framing.push(stream.subarray(edges[index - 1] ?? 0, edge)));
      assert.deepEqual(
        heard,
        [1, 2, 3].map((serial) => ({ ...message, serial })),
      );
    });
  });

  it('without a body have neither signature nor padding too much', () => {
    const bytes = encodeMessage({ kind: 'call', serial: 1, member: 'Hello', signature: '', body: [] });
    assert.equal(bytes.length % 8, 0);
    assert.deepEqual(createFraming().push(bytes), [
      { kind: 'call', serial: 1, member: 'Hello', signature: '', body: [] },
    ]);
  });

  it('that are too long end the stream before anything of them is kept', () => {
    const head = encodeMessage(message).subarray(0, 16);
    head.writeUInt32LE(MAX_MESSAGE_BYTES, 4);
    assert.throws(() => createFraming().push(head), isProtocolError);
  });

  it('that are none end the stream', () => {
    assert.throws(() => createFraming().push(Buffer.from('HTTP/1.1 400 Bad Request\r\n')), isProtocolError);
  });
});
