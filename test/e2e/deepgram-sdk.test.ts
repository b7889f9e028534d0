import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DeepgramListener,
  listenWithDeepgram,
  transcriptOf,
} from '../support/deepgram-client.ts';
import { LIBRIVOX, loadRecording, wordCount, wordErrors } from '../support/speech.ts';
import { bytesOf, silence } from '../support/voice-fakes.ts';
import { settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const RATE = 16_000;
const WISHES = {
  model: 'local/pocketsphinx',
  language: 'en-US',
  encoding: 'linear16',
  sample_rate: RATE,
  channels: 1,
  interim_results: 'true',
  vad_events: 'true',
  utterance_end_ms: 1_000,
  endpointing: 300,
  smart_format: 'true',
  punctuate: 'true',
  tag: 'test',
  extra: 'key:value',
} as const;

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld();
  // Words are told as they are spoken only once the recogniser is loaded, which takes seconds on a busy machine.
  const { listener } = await open('first');
  await speak(listener, loadRecording(LIBRIVOX[0]?.file ?? ''));
  listener.connection.sendCloseStream({ type: 'CloseStream' });
  await listener.closed;
});
afterAll(() => world[Symbol.asyncDispose]());

async function open(name: string, change: Record<string, unknown> = {}) {
  const agent = await world.fund(name);
  const target = { wsUrl: world.wsUrl, apiKey: agent.agentKey };
  const listener = await listenWithDeepgram(target, { ...WISHES, ...change });
  listener.connection.connect();
  await listener.connection.waitForOpen();
  return { agent, listener };
}

/** In the pieces that a microphone makes, four times as fast as a speaker unless told otherwise. */
async function speak(
  { connection }: DeepgramListener,
  pcm: Int16Array,
  timesAsFast = 4,
): Promise<void> {
  const bytes = bytesOf(pcm);
  const step = RATE / 5;
  const startMs = performance.now();
  for (let at = 0, sent = 1; at < bytes.length; at += step, sent++) {
    connection.sendMedia(bytes.slice(at, at + step));
    const waitMs = startMs + (sent * 100) / timesAsFast - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** What the ledger has of an agent's only stream. */
async function charge(agentId: number) {
  const money = await settledMoney(world.sql, agentId);
  const rows = await world.sql<{ cost: bigint; usage: { audio_second?: number } }[]>`
    select cost_raw as cost, usage from charges where agent_id = ${agentId}`;
  expect(money.spendable).toBe(money.credited - money.charged);
  return { rows, money };
}

describe("Deepgram's own client against /v1/listen", () => {
  it("Deepgram's client on /v1/listen gets interim and final results of human speech, and pays for its seconds", async () => {
    const { agent, listener } = await open('listener');
    const recording = LIBRIVOX[0];
    if (recording === undefined) throw new Error('there are recordings');
    const pcm = loadRecording(recording.file);
    // A recogniser on a busy machine hears what comes faster all at once, and has no interim words for it.
    await speak(listener, pcm, 1);
    await speak(listener, silence(2_000, RATE));
    await expect
      .poll(() => listener.of('UtteranceEnd').length, { timeout: 20_000 })
      .toBeGreaterThan(0);
    listener.connection.sendCloseStream({ type: 'CloseStream' });
    expect((await listener.closed).code).toBe(1000);

    const results = listener.of('Results');
    expect(results.some((event) => event.is_final === false && transcriptOf(event) !== '')).toBe(
      true,
    );
    expect(results.some((event) => event.speech_final === true)).toBe(true);
    expect(listener.events[0]).toMatchObject({ type: 'SpeechStarted', channel: [0, 1] });
    const errors = wordErrors(recording.text, listener.said());
    expect(errors / wordCount(recording.text)).toBeLessThan(0.5);
    const seconds = pcm.length / RATE + 2;
    expect(listener.events.at(-1)).toMatchObject({
      type: 'Metadata',
      duration: seconds,
      channels: 1,
    });
    const { rows } = await charge(agent.agentId);
    expect(rows.map(({ usage }) => usage)).toEqual([{ audio_second: seconds }]);
  });

  it("Deepgram's client on /v1/listen gets results at once on Finalize, and KeepAlive keeps the stream open", async () => {
    const { agent, listener } = await open('finalizer', { utterance_end_ms: undefined });
    const recording = LIBRIVOX[0];
    const pcm = loadRecording(recording?.file ?? '').subarray(0, RATE * 3);
    await speak(listener, pcm);
    listener.connection.sendFinalize({ type: 'Finalize' });
    const finalized = () => listener.of('Results').filter((event) => event.from_finalize === true);
    await expect.poll(() => finalized().length, { timeout: 20_000 }).toBe(1);
    expect(transcriptOf(finalized()[0])).not.toBe('');
    listener.connection.sendKeepAlive({ type: 'KeepAlive' });
    await speak(listener, pcm);
    listener.connection.sendCloseStream({ type: 'CloseStream' });
    expect((await listener.closed).code).toBe(1000);
    expect(finalized()).toHaveLength(1);
    expect(listener.of('Error')).toEqual([]);
    expect(listener.of('Metadata')).toMatchObject([{ duration: 6 }]);
    const { rows } = await charge(agent.agentId);
    expect(rows.map(({ usage }) => usage)).toEqual([{ audio_second: 6 }]);
  });

  it("Deepgram's client on /v1/listen is refused with a wrong key", async () => {
    const target = { wsUrl: world.wsUrl, apiKey: `svc_${'0'.repeat(64)}` };
    const listener = await listenWithDeepgram(target, { ...WISHES });
    listener.connection.connect();
    await expect.poll(() => listener.errors).toEqual([expect.stringContaining('401')]);
    listener.connection.close();
  });
});
