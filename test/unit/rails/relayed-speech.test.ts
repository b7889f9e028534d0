import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/kernel/limits.ts';
import { StreamBroken } from '../../../src/rails/event-reader.ts';
import type { OpenedAnswer } from '../../../src/rails/open-answer.ts';
import { RelayedSpeech } from '../../../src/rails/relayed-speech.ts';

/** An answer of these chunks; an error among them is thrown in its place. */
function answerOf(...chunks: (string | Error)[]) {
  const told = { stops: 0 };
  const answer: OpenedAnswer = {
    ...{ status: 200, headers: {} },
    body: (async function* () {
      for (const chunk of chunks) {
        if (chunk instanceof Error) throw chunk;
        yield Buffer.from(chunk);
      }
    })(),
    stop: () => {
      told.stops++;
    },
  };
  return { answer, told };
}

async function heard(sound: RelayedSpeech): Promise<string[]> {
  const pieces: string[] = [];
  for (let next = await sound.next(); next !== undefined; next = await sound.next()) {
    pieces.push(Buffer.from(next).toString());
  }
  return pieces;
}

const DELTA = `data: {"type":"speech.audio.delta","audio":"${Buffer.from('sound').toString('base64')}"}\n\n`;
const DONE = 'data: {"type":"speech.audio.done","usage":{"input_tokens":1,"output_tokens":2}}\n\n';

describe('relayed speech', () => {
  it('gives every byte in its order, the ones that began it too', async () => {
    const sound = new RelayedSpeech(answerOf('', 'one', '', 'two').answer, false);
    expect(await sound.begin('audio/mpeg', 'mp3')).toBe('audio/mpeg');
    expect(await heard(sound)).toEqual(['one', 'two']);
    expect(sound.usage()).toBeNull();
  });

  it('has not begun without a byte', async () => {
    const sound = new RelayedSpeech(answerOf('', '').answer, false);
    await expect(sound.begin('audio/mpeg', 'mp3')).rejects.toThrow(StreamBroken);
  });

  it('breaks where its upstream does, and is over then', async () => {
    const sound = new RelayedSpeech(answerOf('one', new Error('reset')).answer, false);
    await sound.begin('', 'mp3');
    await sound.next();
    await expect(sound.next()).rejects.toThrow(StreamBroken);
    expect(await sound.next()).toBeUndefined();
  });

  it('takes the sound out of events, of the type of the format, and hears what it used', async () => {
    const sound = new RelayedSpeech(answerOf(DELTA, DELTA + DONE).answer, true);
    expect(await sound.begin('text/event-stream', 'opus')).toBe('audio/ogg');
    expect(sound.usage()).toBeNull();
    expect(await heard(sound)).toEqual(['sound', 'sound']);
    expect(sound.usage()).toEqual({ inputTokens: 1, outputTokens: 2 });
  });

  it('takes events without the last one for a break', async () => {
    const sound = new RelayedSpeech(answerOf(DELTA).answer, true);
    await sound.begin('', 'mp3');
    await sound.next();
    await expect(sound.next()).rejects.toThrow('it ended before its end');
  });

  it('drops an upstream whose event has no end', async () => {
    const { answer, told } = answerOf(`data: ${'x'.repeat(LIMITS.sseEventBytes)}`);
    const sound = new RelayedSpeech(answer, true);
    await expect(sound.begin('', 'mp3')).rejects.toThrow('an event is too large');
    expect(told.stops).toBe(1);
  });

  it('is over when nobody wants it, and says so to its upstream', async () => {
    const { answer, told } = answerOf('one', 'two');
    const sound = new RelayedSpeech(answer, false);
    await sound.next();
    sound.stop();
    expect(await sound.next()).toBeUndefined();
    expect(told.stops).toBe(1);
  });
});
