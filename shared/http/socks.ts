import { once } from 'node:events';
import { connect, isIP, isIPv4, type Socket } from 'node:net';
import { TunnelRefused } from './tunnel-refused.ts';

interface Place {
  readonly host: string;
  readonly port: number;
}

const VERSION = 5;
const NO_CREDENTIAL = 0;
const PASSWORD = 2;
/** How many bytes an address of each type has (RFC 1928, 5); a name begins with its own length. */
const ADDRESS_BYTES: Readonly<Record<number, number>> = { 1: 4, 4: 16 };
const NAME = 3;

/**
 * A connection through a SOCKS 5 proxy (RFC 1928; the password: RFC 1929). A name is looked up by the proxy, as Go has it for
 * `socks5` as well as for `socks5h`.
 *
 * @param signal ends the attempt
 * @throws TunnelRefused, or what the network or the signal says
 */
export async function openSocks(
  proxy: Place,
  credentials: readonly [user: string, password: string] | undefined,
  target: Place,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connect(proxy);
  try {
    await once(socket, 'connect', { signal });
    await ask(socket, credentials, target, (bytes) => take(socket, bytes, signal));
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function ask(
  socket: Socket,
  credentials: readonly [user: string, password: string] | undefined,
  { host, port }: Place,
  read: (bytes: number) => Promise<Buffer>,
): Promise<void> {
  const methods = credentials === undefined ? [NO_CREDENTIAL] : [NO_CREDENTIAL, PASSWORD];
  socket.write(Buffer.from([VERSION, methods.length, ...methods]));
  const [version, method = -1] = await read(2);
  if (version !== VERSION) throw new TunnelRefused('something that is not SOCKS 5');
  if (!methods.includes(method)) throw new TunnelRefused('the wish for another credential');
  if (method === PASSWORD) {
    socket.write(Buffer.concat([Buffer.from([1]), ...(credentials ?? []).map(counted)]));
    const [, refused] = await read(2);
    if (refused !== 0) throw new TunnelRefused('the wish for another credential');
  }
  const to = Buffer.alloc(2);
  to.writeUInt16BE(port);
  socket.write(Buffer.concat([Buffer.from([VERSION, 1, 0]), addressOf(host), to]));
  const [, reply = -1, , type = 0] = await read(4);
  if (reply !== 0) throw new TunnelRefused(`reply ${reply} of SOCKS`);
  const bytes = type === NAME ? (await read(1))[0] : ADDRESS_BYTES[type];
  await read((bytes ?? 0) + 2);
}

/** Longer than 255 bytes cannot be said. */
const counted = (text: string): Buffer => {
  const bytes = Buffer.from(text).subarray(0, 255);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
};

function addressOf(host: string): Buffer {
  if (isIPv4(host)) return Buffer.from([1, ...host.split('.').map(Number)]);
  if (isIP(host) === 0) return Buffer.concat([Buffer.from([NAME]), counted(host)]);
  const [head = '', tail] = host.split('::');
  const groups = (part: string): readonly number[] =>
    part === '' ? [] : part.split(':').map((hex) => parseInt(hex, 16));
  const [front, back] = [groups(head), groups(tail ?? '')];
  const all = [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
  return Buffer.from([4, ...all.flatMap((group) => [group >> 8, group & 0xff])]);
}

/** Exactly so many bytes of what comes next. */
async function take(socket: Socket, bytes: number, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const found = socket.read(bytes) as Buffer | null;
    if (found?.length === bytes) return found;
    if (socket.readableEnded || found !== null) throw new TunnelRefused('the end of the connection');
    await once(socket, 'readable', { signal });
  }
}
