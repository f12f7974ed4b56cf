/** What a command sees of the process it runs in. */
export interface Io {
  readonly out: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly err: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Standard input; absent if none can be read. */
  readonly in?: AsyncIterable<Uint8Array>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What moves a cursor, talks to the terminal, or turns the order of letters around. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]/g;
/** What we say to terminals ourselves: the beginnings of `progress.ts` and of a watched status, and the colours of `paint.ts`. */
// oxlint-disable-next-line no-control-regex
const OUR_BEGINNING = /^(?:\r\u001B\[K|\u001B\[H\u001B\[2J)/;
// oxlint-disable-next-line no-control-regex
const OUR_COLOURS = /(\u001B\[(?:1|22|3[1239]|90)m)/;

/**
 * Text in which nothing but line breaks and tabs is unprintable. Messages quote nodes, files and servers, which may say anything.
 * What is spelled out is so as in JSON: JSON stays the same.
 */
export const forTerminal = (text: string): string =>
  text.replaceAll(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The same streams, on which only we send control sequences to a terminal. */
export const safeIo = (io: Io): Io => ({ ...io, out: safeStream(io.out), err: safeStream(io.err) });

function safeStream(stream: Io['out']): Io['out'] {
  const { isTTY = false } = stream;
  return {
    isTTY,
    // The width may change during a watch.
    get columns() {
      return stream.columns ?? 0;
    },
    write: (text) => stream.write(isTTY ? withOurs(text) : forTerminal(text)),
  };
}

function withOurs(text: string): string {
  const [beginning = ''] = OUR_BEGINNING.exec(text) ?? [];
  const parts = text.slice(beginning.length).split(OUR_COLOURS);
  return beginning + parts.map((part, index) => (index % 2 === 1 ? part : forTerminal(part))).join('');
}
