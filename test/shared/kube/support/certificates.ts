import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** PEM of the authority itself. */
  readonly ca: string;
  /** A certificate for this name (the common name), valid for these hosts, signed by the authority. */
  issue(commonName: string, hosts?: readonly string[]): Identity;
}

const FAR_AWAY = '491231235959Z';

/**
 * A certificate authority that lives for one test, made without any tool: X.509 is little more than nested lengths.
 *
 * @param until when it and everything that it issues ends, as `YYMMDDHHMMSSZ`
 */
export function createAuthority(name: string, until = FAR_AWAY): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issue = (subject: string, publicKey: KeyObject, extensions: readonly Buffer[]): string =>
    certificate({ issuer: name, subject, publicKey, extensions, until, signWith: own.privateKey });
  return {
    ca: issue(name, own.publicKey, [extension('551d13', true, sequence(TRUE))]),
    issue(commonName, hosts = []) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const alternatives = hosts.map((host) =>
        isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
      );
      const extensions = alternatives.length === 0 ? [] : [extension('551d11', false, sequence(...alternatives))];
      return {
        cert: issue(commonName, publicKey, extensions),
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}

interface Certificate {
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly until: string;
  readonly signWith: KeyObject;
}

/** RFC 5280, 4.1, with ECDSA and SHA-256. */
function certificate({ issuer, subject, publicKey, extensions, until, signWith }: Certificate): string {
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    distinguishedName(issuer),
    sequence(utcTime('200101000000Z'), utcTime(until)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  );
  const signature = sign('sha256', body, signWith);
  const whole = sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function der(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const integer = (bytes: Buffer): Buffer => der(0x02, bytes);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));
const TRUE = der(0x01, Buffer.from([0xff]));
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));

const distinguishedName = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(commonName)))));

const extension = (id: string, critical: boolean, content: Buffer): Buffer =>
  sequence(oid(id), ...(critical ? [TRUE] : []), der(0x04, content));
