import { afterEach, expect } from 'vitest';
import { type CascadeWorld, cascadeWorld } from './cascade-world.ts';
import type { RealtimeClient } from './realtime-client.ts';
import { response } from './realtime-session.ts';
import { settled } from './settled.ts';
import { AGENT } from './voice-world.ts';

/** The so-manieth response, when it is over. */
export async function done(client: RealtimeClient, nth = 1) {
  await expect.poll(() => client.of('response.done').length, { timeout: 10_000 }).toBe(nth);
  return response(client.of('response.done')[nth - 1]);
}

/** By names of the catalogue: sessions whose parts are all at upstreams. */
export const VOICES = { model: 'acme/chat', tts_model: 'acme/say', stt_model: 'acme/hear' };

/** The worlds of a file of tests: each test starts its own, which is taken down behind it. */
export function cascadeStage() {
  let world: CascadeWorld;
  afterEach(() => world[Symbol.asyncDispose]());
  return {
    /** That of the test that runs. */
    get world() {
      return world;
    },
    async start(options: Parameters<typeof cascadeWorld>[0] = {}): Promise<CascadeWorld> {
      world = await cascadeWorld(options);
      return world;
    },
    leave: (client: RealtimeClient) => leave(client, world),
  };
}

/** Ends a session, and compares its charges with its receipts. */
async function leave(client: RealtimeClient, { ledger }: CascadeWorld): Promise<bigint> {
  const receipts = client
    .of('response.done')
    .reduce((sum, event) => sum + BigInt(response(event).metadata.cost_raw ?? '0'), 0n);
  client.ws.close();
  await settled(ledger);
  const charged = ledger.charges.reduce((sum, { costRaw }) => sum + costRaw, 0n);
  expect(ledger.consumedRaw(AGENT)).toBe(charged);
  expect(ledger.shortfalls.size).toBe(0);
  expect(charged).toBe(receipts);
  return charged;
}
