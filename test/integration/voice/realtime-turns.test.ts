import { describe, expect, it } from 'vitest';
import { cascadeStage, done } from '../../support/cascade-steps.ts';
import { hear, RATE } from '../../support/cascade-world.ts';
import type { RealtimeClient } from '../../support/realtime-client.ts';
import { settled } from '../../support/settled.ts';
import { silence, tone } from '../../support/voice-fakes.ts';
import { AGENT } from '../../support/voice-world.ts';

const stage = cascadeStage();
const { leave, start } = stage;

const TURNS = { model: 'acme/chat', tts_model: 'acme/say', stt_model: 'acme/turns' };
const ENDED = 'conversation.item.input_audio_transcription.completed';

/** Lets the transcriber, or else a long silence, end the turns. */
async function listenBy(client: RealtimeClient, eagerness: 'high' | 'low'): Promise<void> {
  const turn_detection = { type: 'semantic_vad', eagerness };
  client.say({
    type: 'session.update',
    session: { type: 'realtime', audio: { input: { turn_detection } } },
  });
  await client.until(({ type }) => type === 'session.updated');
}

/** Keeps the line open, as a microphone does, until as many events of the type have come. */
async function silentUntil(client: RealtimeClient, type: string, count = 1): Promise<void> {
  await expect
    .poll(
      () => {
        hear(client, [silence(100, RATE)]);
        return client.of(type).length;
      },
      { timeout: 10_000, interval: 20 },
    )
    .toBe(count);
}

describe('a realtime session whose transcriber finds the ends of turns', () => {
  it('a turn-detecting transcriber ends the turn before the longest silence, and its seconds are charged', async () => {
    const { chat, connect, turns } = await start();
    const client = await connect(TURNS);
    await listenBy(client, 'high');
    hear(client, [tone(1_000, RATE)]);
    await silentUntil(client, ENDED);
    await done(client);
    expect(client.of(ENDED)[0]).toMatchObject({ transcript: 'w1 w2' });
    const { searchParams } = new URL(turns.peers[0]?.path ?? '', 'http://vendor');
    expect(Object.fromEntries(searchParams)).toEqual({
      model: 'flux-general-en',
      encoding: 'linear16',
      sample_rate: '16000',
      eager_eot_threshold: '0.5',
      eot_timeout_ms: '2000',
    });
    expect(chat.seen.at(-1)).toMatchObject({ messages: [{ role: 'user', content: 'w1 w2' }] });
    expect(client.of(ENDED)[0]?.usage).toMatchObject({ type: 'duration' });
    await leave(client);
  });

  it('a realtime session prepares one response at a likely end of turn, and drops it when the caller goes on', async () => {
    const { chat, connect, turns } = await start();
    let likely = () => {};
    const isLikely = new Promise<void>((resolve) => {
      likely = resolve;
    });
    turns.script = (_, found) => {
      if (found === 'likely') likely();
      return true;
    };
    const client = await connect(TURNS);
    await listenBy(client, 'high');
    hear(client, [tone(1_000, RATE), silence(400, RATE)]);
    await isLikely;
    await expect.poll(() => chat.seen.length).toBe(1);
    expect(client.of('response.created')).toEqual([]);
    hear(client, [tone(600, RATE)]);
    await silentUntil(client, ENDED);
    await done(client);
    expect(chat.seen.map(({ messages }) => messages)).toMatchObject([
      [{ content: 'w1 w2' }],
      [{ content: 'w1 w2 w3' }],
    ]);
    expect(client.of('response.created')).toHaveLength(1);
    client.ws.close();
    await settled(stage.world.ledger);
    expect(stage.world.ledger.shortfalls.size).toBe(0);
  });

  it('a realtime session prepares no response ahead when its client chose low eagerness', async () => {
    const { chat, connect, turns } = await start();
    const client = await connect(TURNS);
    await listenBy(client, 'low');
    hear(client, [tone(1_000, RATE)]);
    await silentUntil(client, ENDED);
    await done(client);
    expect(turns.peers[0]?.path).not.toContain('eager_eot_threshold');
    expect(chat.seen).toHaveLength(1);
    await leave(client);
  });

  it('a realtime session loses no word when its transcriber dies within an utterance, and pays only the other one', async () => {
    const { connect, ledger, otherTurns, turns } = await start();
    turns.script = (peer, _, text) => {
      if (text !== 'w1 w2') return true;
      peer.ws.terminate();
      return false;
    };
    const client = await connect(TURNS);
    await listenBy(client, 'low');
    hear(client, [tone(1_300, RATE)]);
    await otherTurns.peer();
    hear(client, [tone(750, RATE)]);
    await silentUntil(client, ENDED);
    await done(client);
    expect(client.of(ENDED)[0]).toMatchObject({ transcript: 'w1 w2 w3 w4' });
    expect(client.of('error')).toEqual([]);
    await leave(client);
    expect(ledger.shortfalls.size).toBe(0);
  });

  it('a realtime session closes the sessions of a transcriber that bills by session', async () => {
    const { connect, sessions } = await start();
    const client = await connect({ ...TURNS, stt_model: 'acme/sessions' });
    await listenBy(client, 'high');
    hear(client, [tone(1_000, RATE)]);
    await silentUntil(client, ENDED);
    await done(client);
    expect(client.of(ENDED)[0]).toMatchObject({ transcript: 'w1 w2' });
    await leave(client);
    await expect((await sessions.peer()).closed).resolves.toMatchObject({ code: 1000 });
  });

  it('a realtime session tells its client and closes when no source transcribes two utterances in a row', async () => {
    const { connect, ledger, otherTurns, turns } = await start();
    for (const upstream of [turns, otherTurns]) upstream.refusals.push(...Array(20).fill(500));
    const client = await connect(TURNS);
    await listenBy(client, 'high');
    for (const nth of [1, 2]) {
      hear(client, [tone(1_000, RATE)]);
      await silentUntil(client, 'conversation.item.input_audio_transcription.failed', nth);
    }
    await expect(client.closed).resolves.toMatchObject({ code: 1011 });
    expect(client.of('error').at(-1)).toMatchObject({ error: { code: 'transcriber_lost' } });
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
    expect(ledger.shortfalls.size).toBe(0);
  });
});
