import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AbusedWorld,
  abusedWorld,
  TURN_COST_RAW,
  toldCostRaw,
  USAGE,
} from '../../support/abused-world.ts';

/** More than the burst that a session is given, and what flows in while they come. */
const FLOOD = 6_000;
const TEXT_TURN = { type: 'response.create', response: { output_modalities: ['text'] } };
const isDone = ({ type }: { readonly type: string }) => type === 'response.done';

let world: AbusedWorld;
let chargedRaw = 0n;
beforeAll(async () => {
  world = await abusedWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  chargedRaw = await world.chargedRaw();
});

describe('a realtime session on the real ledger', () => {
  it('a realtime session that floods is closed 1008, local or relayed, and pays for the turns that its client received', async () => {
    const local = await world.connect('local');
    local.say(TEXT_TURN);
    await local.until(isDone);
    for (let n = 0; n < FLOOD; n++) local.say({ type: 'input_audio_buffer.clear' });
    expect(await local.closed).toEqual({ code: 1008, reason: 'rate_limit_exceeded' });
    chargedRaw += toldCostRaw(local.of('response.done'));

    const { upstream } = world.relay;
    const nth = upstream.peers.length;
    const relayed = await world.connect('relayed');
    (await upstream.peer(nth)).finish('r1', USAGE);
    await relayed.until(isDone);
    for (let n = 0; n < FLOOD; n++) relayed.say({ type: 'input_audio_buffer.clear' });
    expect(await relayed.closed).toEqual({ code: 1008, reason: 'rate_limit_exceeded' });
    await world.expectBooks(chargedRaw + TURN_COST_RAW);
  });

  it('a realtime session that gets audio far faster than real time reports that, stays open, and pays for its turn alone', async () => {
    const client = await world.connect('local');
    // A telephone's sound, which takes little time to read: this is about the time of the sound.
    const input = { format: { type: 'audio/pcmu' } };
    client.say({ type: 'session.update', session: { type: 'realtime', audio: { input } } });
    // Ten seconds of silence each, and two minutes may be ahead.
    const audio = Buffer.alloc(8_000 * 10, 0xff).toString('base64');
    for (let n = 0; n < 20; n++) client.say({ type: 'input_audio_buffer.append', audio });
    const refused = await client.until(({ type }) => type === 'error');
    expect(refused).toMatchObject({ error: { code: 'audio_too_fast' } });
    client.say(TEXT_TURN);
    await client.until(isDone);
    client.ws.close();
    await client.closed;
    await world.expectBooks(chargedRaw + toldCostRaw(client.of('response.done')));
  });

  it('a realtime session whose client leaves after any event pays what is journaled, which covers all that the client received', async () => {
    const whole = await world.connect('local');
    whole.say(TEXT_TURN);
    await whole.until(isDone);
    const most = whole.events.length;
    whole.ws.terminate();
    chargedRaw += toldCostRaw(whole.of('response.done'));
    for (let left = 0; left <= most; left++) {
      const client = await world.connect('local');
      const leave = () => {
        if (client.events.length >= left) client.ws.terminate();
      };
      client.ws.on('message', leave);
      client.say(TEXT_TURN);
      leave();
      await client.closed;
      const nowRaw = await world.chargedRaw();
      const turns = client.of('response.done');
      if (turns.length > 0) expect(nowRaw - chargedRaw).toBe(toldCostRaw(turns));
      chargedRaw = nowRaw;
      await world.expectBooks(chargedRaw);
    }
    expect(most, 'a turn has many events').toBeGreaterThan(4);
  });
});
