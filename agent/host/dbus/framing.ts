import { decodeMessage, type Message, messageLength, PREFIX_BYTES } from './message.ts';

/** Cuts a stream of bytes into messages. */
interface Framing {
  /** @throws GitopsError BUS_PROTOCOL: the stream is of no use any more */
  push(chunk: Buffer): readonly Message[];
}

export function createFraming(): Framing {
  let chunks: Buffer[] = [];
  let held = 0;
  let wanted = PREFIX_BYTES;
  return {
    push(chunk) {
      chunks.push(chunk);
      held += chunk.length;
      // A big message comes in many chunks: they are joined once, when it is complete.
      if (held < wanted) return [];
      let rest: Buffer = Buffer.concat(chunks);
      const messages: Message[] = [];
      wanted = PREFIX_BYTES;
      while (rest.length >= PREFIX_BYTES) {
        wanted = messageLength(rest);
        if (rest.length < wanted) break;
        messages.push(decodeMessage(rest.subarray(0, wanted)));
        rest = rest.subarray(wanted);
        wanted = PREFIX_BYTES;
      }
      chunks = rest.length === 0 ? [] : [rest];
      held = rest.length;
      return messages;
    },
  };
}
