import fc from 'fast-check';
import { closeFrame, FIN, FIRST, type Outcome } from './raw-web-socket.ts';
import { frame } from './web-socket-client.ts';

/** One frame as a client without manners might send it. */
export type WildFrame = {
  readonly fin: boolean;
  /** The three bits that no extension was agreed for. */
  readonly reserved: number;
  readonly opcode: number;
  readonly payload: Uint8Array;
};

export type Message = { readonly isBinary: boolean; readonly bytes: Buffer };

export const encodeWild = ({ fin, reserved, opcode, payload }: WildFrame): Buffer =>
  frame((fin ? FIN : 0) | (reserved << 4) | opcode, payload);

/** Pieces of text that only some of make sense behind one another. */
const TEXTS = ['', 'a', '{"type":"x"}', 'caf\u00e9', '\u20ac', '\u{1f642}'].map((text) =>
  Buffer.from(text),
);
const PIECES = [...TEXTS, Buffer.of(0xe2, 0x82), Buffer.of(0xac), Buffer.of(0xff), Buffer.of(0x80)];
const CODES = [0, 999, 1000, 1001, 1005, 1006, 1011, 1012, 2999, 3000, 3999, 4000, 4999, 5000];

const text = fc.constantFrom(...PIECES);
const sound = fc.integer({ min: 0, max: 4_000 }).map((length) => Buffer.alloc(length, 7));
const control = fc.integer({ min: 0, max: 127 }).map((length) => Buffer.alloc(length, 0x70));

const framesOf = (opcode: number, payload: fc.Arbitrary<Uint8Array>, fin = fc.boolean()) =>
  fc.record({ fin, reserved: fc.constant(0), opcode: fc.constant(opcode), payload });

const mostly = fc.integer({ min: 0, max: 19 }).map((n) => n > 0);
const wildFrame: fc.Arbitrary<WildFrame> = fc.oneof(
  {
    weight: 4,
    arbitrary: framesOf(1, fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...TEXTS) }, text)),
  },
  { weight: 4, arbitrary: framesOf(2, sound) },
  { weight: 8, arbitrary: framesOf(0, text) },
  { weight: 3, arbitrary: framesOf(9, control, mostly) },
  { weight: 2, arbitrary: framesOf(10, control, mostly) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...CODES).map((code) => ({
      fin: true,
      reserved: 0,
      opcode: 8,
      payload: closeFrame(code).subarray(6),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      fin: fc.boolean(),
      reserved: fc.integer({ min: 0, max: 7 }),
      opcode: fc.integer({ min: 0, max: 15 }).filter((opcode) => opcode !== 8),
      payload: text,
    }),
  },
);

export const wildFrames = fc.array(wildFrame, { minLength: 1, maxLength: 14 });

/** How many bytes go out in each write. */
export const wildWrites = fc.array(fc.integer({ min: 1, max: 3_000 }), {
  minLength: 1,
  maxLength: 8,
});

/** A close frame is answered with its own code where the library knows it, and else with none, which reads 1005. */
export const closeAnswer = (code: number): number =>
  (code >= 1000 && code <= 1011 && ![1004, 1005, 1006].includes(code)) ||
  (code >= 4000 && code <= 4999)
    ? code
    : 1005;

/**
 * What the library makes of the frames: the messages that count, and how the connection stands behind them. It is what
 * RFC 6455 makes of them but for a message that begins within another. Text is cut off there, unless a control frame
 * came between; bytes are not, and neither is text then: the two are held as one, and the end of the inner one ends both
 * but the name of the outer, under which what continues goes on. Within two any other frame is cut off.
 */
export function judge(frames: readonly WildFrame[]): {
  readonly messages: readonly Message[];
  readonly outcome: Outcome;
} {
  const messages: Message[] = [];
  const open: number[] = [];
  let parts: Uint8Array[] = [];
  let lastEnded = true;
  for (const wild of frames) {
    const { fin, opcode, payload } = wild;
    const isWithin = open.length === 2 || (opcode === 1 && !lastEnded);
    if (isForbidden(wild) || (opcode === 0 ? open.length === 0 : isWithin)) {
      return { messages, outcome: 'cut' };
    }
    lastEnded = fin;
    if (opcode === FIRST.close - FIN) {
      return { messages, outcome: closeAnswer(Buffer.from(payload).readUInt16BE(0)) };
    }
    if (opcode > 8) continue;
    if (opcode !== 0) open.push(opcode);
    parts.push(payload);
    if (!fin) continue;
    const message = { isBinary: open.pop() === 2, bytes: Buffer.concat(parts) };
    if (!message.isBinary && !isUtf8(message.bytes)) return { messages, outcome: 'cut' };
    messages.push(message);
    parts = [];
  }
  // The caller sends one more frame.
  return { messages, outcome: open.length === 2 ? 'cut' : 'open' };
}

const isForbidden = ({ fin, reserved, opcode, payload }: WildFrame): boolean =>
  reserved !== 0 ||
  (opcode > 2 && opcode < 8) ||
  opcode > 10 ||
  (opcode > 7 && (!fin || payload.length > 125));

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
