import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type AbusedWorld,
  abusedWorld,
  type SocketName,
  soundRaw,
} from '../../support/abused-world.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import {
  encodeWild,
  judge,
  type Message,
  type WildFrame,
  wildFrames,
  wildWrites,
} from '../../support/frame-oracle.ts';
import type { RawWebSocket } from '../../support/raw-web-socket.ts';

const RUNS = exhaustive ? 300 : 120;

let world: AbusedWorld;
let expectedRaw = 0n;
beforeAll(async () => {
  world = await abusedWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Sends the frames in writes of these sizes, over and over. */
function sendIn(raw: RawWebSocket, frames: readonly WildFrame[], sizes: readonly number[]): void {
  const bytes = Buffer.concat(frames.map(encodeWild));
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    raw.send(bytes.subarray(at, at + size));
    at += size;
  }
}

/** Sends the frames on a session of their own, and leaves it again. */
async function abuse(
  name: SocketName,
  frames: readonly WildFrame[],
  sizes: readonly number[],
): Promise<readonly Message[]> {
  const { messages, outcome } = judge(frames);
  return world.raw(name, async (raw) => {
    sendIn(raw, frames, sizes);
    expect(await raw.outcome()).toBe(outcome);
    return messages;
  });
}

it('a relay passes on the messages of arbitrary frames, and nothing that the protocol forbids', async () => {
  const { upstream } = world.relay;
  await fc.assert(
    fc.asyncProperty(wildFrames, wildWrites, async (frames, sizes) => {
      const nth = upstream.peers.length;
      const messages = await abuse('relayed', frames, sizes);
      const peer = await upstream.peer(nth);
      await peer.closed;
      expect(peer.frames).toEqual(messages);
      expect(await world.chargedRaw()).toBe(expectedRaw);
    }),
    { numRuns: RUNS },
  );
  expectedRaw += await world.serve('relayed');
  await world.expectBooks(expectedRaw);
}, 120_000);

it.each(['transcribed', 'listened'] as const)(
  'the %s socket charges the audio in arbitrary frames, to the byte',
  async (name) => {
    await fc.assert(
      fc.asyncProperty(wildFrames, wildWrites, async (frames, sizes) => {
        const messages = await abuse(name, frames, sizes);
        const sound = messages.filter(({ isBinary }) => isBinary);
        expectedRaw += soundRaw(sound.reduce((sum, { bytes }) => sum + bytes.length, 0));
        expect(await world.chargedRaw()).toBe(expectedRaw);
      }),
      // What a run has charged stays charged, so that a counterexample is not made smaller.
      { numRuns: RUNS, endOnFailure: true },
    );
    expectedRaw += await world.serve(name);
    await world.expectBooks(expectedRaw);
  },
  120_000,
);

it('a local realtime session answers or closes on arbitrary frames, and charges nothing', async () => {
  await fc.assert(
    fc.asyncProperty(wildFrames, wildWrites, async (frames, sizes) => {
      await abuse('local', frames, sizes);
      expect(await world.chargedRaw()).toBe(expectedRaw);
    }),
    { numRuns: RUNS },
  );
  expectedRaw += await world.serve('local');
  await world.expectBooks(expectedRaw);
}, 120_000);
