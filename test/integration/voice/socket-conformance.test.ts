import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AbusedWorld,
  abusedWorld,
  SOCKETS,
  type SocketName,
} from '../../support/abused-world.ts';
import { closeAnswer } from '../../support/frame-oracle.ts';
import { closeFrame, FIRST, type Outcome } from '../../support/raw-web-socket.ts';
import { frame, frameHead } from '../../support/web-socket-client.ts';

const MIB = 1024 * 1024;
const letters = (length: number) => Buffer.alloc(length, 'a');
/** The first byte of a frame that does not end its message. */
const BEGINS = { continuation: 0x00, text: 0x01, binary: 0x02, ping: 0x09 } as const;
const MASK = Buffer.alloc(4);
const EURO = Buffer.from('\u20ac');

type Case = readonly [what: string, frames: readonly Uint8Array[], outcome: Outcome];

const RESERVED_OPCODES = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15];
const RESERVED_BITS = [0x40, 0x20, 0x10];
const CODES = [
  0, 999, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1015, 1016,
  2999, 3000, 3999, 4000, 4999, 5000, 65_535,
];

const CASES: readonly Case[] = [
  [
    'a message in pieces, some of them empty',
    [
      frame(BEGINS.text, letters(3)),
      frame(BEGINS.continuation, letters(0)),
      frame(FIRST.continuation, letters(1)),
    ],
    'open',
  ],
  [
    'a length that is spelled longer than it need be',
    [Buffer.concat([Buffer.of(FIRST.text, 0xfe, 0, 1), MASK, letters(1)])],
    'open',
  ],
  [
    'a character that is cut in two',
    [frame(BEGINS.text, EURO.subarray(0, 2)), frame(FIRST.continuation, EURO.subarray(2))],
    'open',
  ],
  ['text that is not UTF-8', [frame(FIRST.text, Buffer.of(0xff))], 'cut'],
  ['half of a surrogate pair', [frame(FIRST.text, Buffer.of(0xed, 0xa0, 0x80))], 'cut'],
  ['an overlong character', [frame(FIRST.text, Buffer.of(0xc0, 0xaf))], 'cut'],
  ['a character that never ends', [frame(FIRST.text, EURO.subarray(0, 2))], 'cut'],
  [
    'a character that goes wrong in the next piece',
    [frame(BEGINS.text, EURO.subarray(0, 2)), frame(FIRST.continuation, letters(1))],
    'cut',
  ],
  ['a continuation of nothing', [frame(FIRST.continuation, letters(1))], 'cut'],
  [
    'a message within a message',
    [frame(BEGINS.text, letters(1)), frame(FIRST.text, letters(1))],
    'cut',
  ],
  ['a ping of 125 bytes', [frame(FIRST.ping, letters(125))], 'open'],
  ['a ping of 126 bytes', [frame(FIRST.ping, letters(126))], 'cut'],
  ['a ping in pieces', [frame(BEGINS.ping, letters(1))], 'cut'],
  ['an unsolicited pong', [frame(FIRST.pong, letters(9))], 'open'],
  ...RESERVED_OPCODES.map(
    (opcode): Case => [`the opcode ${opcode}`, [frame(0x80 | opcode, letters(1))], 'cut'],
  ),
  ...RESERVED_BITS.map(
    (bit): Case => [`the reserved bit ${bit}`, [frame(FIRST.text | bit, letters(1))], 'cut'],
  ),
  ['a message of just a mebibyte', [frame(FIRST.text, letters(MIB))], 'open'],
  ['text of more than a mebibyte', [frame(FIRST.text, letters(MIB + 1))], 1009],
  ['bytes of more than a mebibyte', [frame(FIRST.binary, letters(MIB + 1))], 1009],
  [
    'pieces of more than a mebibyte',
    [frame(BEGINS.binary, letters(MIB)), frame(FIRST.continuation, letters(1))],
    1009,
  ],
  [
    'the mere promise of two mebibytes',
    [Buffer.concat([frameHead(FIRST.binary, 2 * MIB), MASK])],
    'cut',
  ],
  [
    'the promise of 2^63 bytes',
    [Buffer.concat([Buffer.of(FIRST.binary, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0), MASK])],
    'cut',
  ],
  [
    'pieces without end',
    [
      frame(BEGINS.binary, letters(MIB / 2)),
      ...Array.from({ length: 17 }, () => frame(BEGINS.continuation, letters(MIB / 2))),
    ],
    'cut',
  ],
  ...CODES.map((code): Case => [`the close code ${code}`, [closeFrame(code)], closeAnswer(code)]),
  ['a close without a code', [frame(FIRST.close, letters(0))], 1005],
  ['a close with half a code', [frame(FIRST.close, letters(1))], 1005],
  ['a close whose reason is not UTF-8', [closeFrame(1000, Buffer.of(0xff))], 1005],
  ['a close of 126 bytes', [closeFrame(1000, letters(124))], 'cut'],
  ['garbage behind a close', [closeFrame(1000), letters(5_000)], 1000],
  ['messages behind a close', [closeFrame(1001), frame(FIRST.text, letters(9))], 1001],
];

let world: AbusedWorld;
let expectedRaw = 0n;
beforeAll(async () => {
  world = await abusedWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  expectedRaw = await world.chargedRaw();
});

/** The socket serves another, who alone has paid since the test began. */
async function stillServes(name: SocketName): Promise<void> {
  expectedRaw += await world.serve(name);
  await world.expectBooks(expectedRaw);
}

const NAMES = Object.keys(SOCKETS) as SocketName[];

describe.each(NAMES)('the %s socket', (name) => {
  it('a voice socket handles every WebSocket frame as the protocol, or docs/decisions/0072, requires', async () => {
    const wrong: string[] = [];
    for (const [what, frames, outcome] of CASES) {
      const found = await world.raw(name, async (raw) => {
        raw.send(...frames);
        const fate = await raw.outcome();
        if (fate !== 'open') await raw.socket.untilClosed();
        return fate;
      });
      if (found !== outcome) wrong.push(`${what}: ${found}, not ${outcome}`);
      await world.chargedRaw();
    }
    expect(wrong).toEqual([]);
    await stillServes(name);
  });

  it('a voice socket reads a fragmented message, with pings in between and byte by byte, like a whole one', async () => {
    const event = EVENTS[name];
    const bytes = Buffer.concat([
      frame(BEGINS.text, event.subarray(0, 5)),
      frame(FIRST.ping, Buffer.from('one')),
      frame(BEGINS.continuation, event.subarray(5, 9)),
      frame(FIRST.ping, Buffer.from('two')),
      frame(FIRST.continuation, event.subarray(9)),
    ]);
    for (const isDribbled of [false, true]) {
      const nth = world.relay.upstream.peers.length;
      await world.raw(name, async (raw) => {
        if (isDribbled) for (const byte of bytes) raw.send(Buffer.of(byte));
        else raw.send(bytes);
        if (name === 'relayed') {
          const peer = await world.relay.upstream.peer(nth);
          await peer.until(event.toString());
          expect(peer.frames).toHaveLength(1);
          raw.send(closeFrame(1000));
        } else if (name === 'local') {
          await raw.fate(() => raw.texts.some((text) => text.includes('"session.updated"')));
          raw.send(closeFrame(1000));
        }
        expect(await raw.fate()).toBe(1000);
        expect(raw.pongs).toEqual(['one', 'two']);
      });
    }
    await stillServes(name);
  });

  it('a voice socket answers 2,000 pings at once, and closes 1008 on a flood whose answers nobody reads', async () => {
    const pings = Array.from({ length: 2_000 }, (_, n) => frame(FIRST.ping, Buffer.from(`${n}`)));
    await world.raw(name, async (raw) => {
      raw.send(...pings);
      expect(await raw.outcome()).toBe('open');
      expect(raw.pongs.slice(0, pings.length)).toEqual(pings.map((_, n) => `${n}`));
    });

    const thousand = Buffer.concat(
      Array.from({ length: 1_000 }, () => frame(FIRST.ping, letters(125))),
    );
    await world.raw(name, async (raw) => {
      raw.socket.pause();
      for (let sent = 0; sent < 6; sent++) raw.socket.send(thousand);
      await world.chargedRaw();
      raw.socket.resume();
      expect(await raw.fate()).toBe(1008);
      expect(raw.socket.received.length).toBeLessThan(2 * MIB);
    });
    await stillServes(name);
  });

  it('a voice socket closes a connection that is half closed, or silent in the middle of a frame', async () => {
    await world.raw(name, async (raw) => {
      raw.socket.half();
      expect(await raw.fate()).toBe('cut');
    });
    const begun = [
      Buffer.of(FIRST.text),
      Buffer.concat([frameHead(FIRST.binary, 1_000), MASK, letters(10)]),
      frame(BEGINS.text, letters(10)),
    ];
    for (const bytes of begun) {
      await world.raw(name, async (raw) => raw.send(bytes));
      await world.chargedRaw();
    }
    await stillServes(name);
  });
});

/** What each of them understands, and what can be seen of that. */
const EVENTS: Readonly<Record<SocketName, Buffer>> = {
  relayed: Buffer.from('{"type":"input_audio_buffer.clear"}'),
  local: Buffer.from(
    '{"type":"session.update","session":{"type":"realtime","instructions":"Caf\u00e9."}}',
  ),
  transcribed: Buffer.from('{"type":"CloseStream"}'),
  listened: Buffer.from('{"type":"CloseStream"}'),
};
