import type { Socket } from 'node:net';
import { GitopsError } from '#shared/runtime/errors.ts';

/** An answer of the bus during the handshake is a short line. */
const MAX_LINE_BYTES = 4096;

/**
 * Says who we are (SASL EXTERNAL: the kernel tells the bus our user id) and leaves the socket ready for messages. No
 * identity is claimed, as sd-bus does it too, so that it also works where user ids are mapped.
 *
 * @returns bytes that came after the handshake already
 * @throws GitopsError BUS_DENIED, BUS_PROTOCOL; BUS_CLOSED where the bus hangs up
 */
export async function authenticate(socket: Socket): Promise<Buffer> {
  const lines = readLines(socket);
  try {
    socket.write('\0AUTH EXTERNAL\r\nDATA\r\n');
    let line = await lines.next();
    if (line === 'DATA') line = await lines.next();
    if (!line.startsWith('OK')) {
      throw new GitopsError('BUS_DENIED', `the message bus does not accept us: ${line.slice(0, 200)}`, {
        disposition: { kind: 'stalled', until: 'operator' },
      });
    }
    socket.write('BEGIN\r\n');
    return lines.rest();
  } finally {
    lines.end();
  }
}

interface Lines {
  next(): Promise<string>;
  rest(): Buffer;
  end(): void;
}

function readLines(socket: Socket): Lines {
  let held: Buffer = Buffer.alloc(0);
  let failure: GitopsError | undefined;
  let look = (): void => undefined;
  const onData = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk]);
    look();
  };
  const onClose = (): void => {
    failure = new GitopsError('BUS_CLOSED', 'the message bus hung up during the handshake');
    look();
  };
  socket.on('data', onData);
  socket.on('close', onClose);
  return {
    next: () =>
      new Promise((resolve, reject) => {
        look = () => {
          const end = held.indexOf('\r\n');
          if (end >= 0) {
            const line = held.toString('latin1', 0, end);
            held = held.subarray(end + 2);
            resolve(line);
          } else if (failure !== undefined) reject(failure);
          else if (held.length > MAX_LINE_BYTES) {
            reject(
              new GitopsError('BUS_PROTOCOL', 'what listens on the socket of the message bus is not a message bus'),
            );
          }
        };
        look();
      }),
    rest: () => held,
    end() {
      socket.off('data', onData);
      socket.off('close', onClose);
    },
  };
}
