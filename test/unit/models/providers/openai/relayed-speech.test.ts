import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { StreamBroken } from '../../../../../src/models/providers/openai/answer-reader.ts';
import { RelayedSpeech } from '../../../../../src/models/providers/openai/relayed-speech.ts';
import { openedAnswer } from '../../../../support/opened-answer.ts';

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
  it('relayed speech yields every byte in order, including the first ones', async () => {
    const sound = new RelayedSpeech(openedAnswer('', 'one', '', 'two').answer, false);
    expect(await sound.begin('audio/mpeg', 'mp3')).toBe('audio/mpeg');
    expect(await heard(sound)).toEqual(['one', 'two']);
    expect(sound.usage()).toBeNull();
  });

  it('relayed speech without a byte does not begin', async () => {
    const sound = new RelayedSpeech(openedAnswer('', '').answer, false);
    await expect(sound.begin('audio/mpeg', 'mp3')).rejects.toThrow(StreamBroken);
  });

  it('relayed speech breaks when its upstream breaks, and then is over', async () => {
    const sound = new RelayedSpeech(openedAnswer('one', new Error('reset')).answer, false);
    await sound.begin('', 'mp3');
    await sound.next();
    await expect(sound.next()).rejects.toThrow(StreamBroken);
    expect(await sound.next()).toBeUndefined();
  });

  it('relayed speech takes audio and usage from events, with the content type of the format', async () => {
    const sound = new RelayedSpeech(openedAnswer(DELTA, DELTA + DONE).answer, true);
    expect(await sound.begin('text/event-stream', 'opus')).toBe('audio/ogg');
    expect(sound.usage()).toBeNull();
    expect(await heard(sound)).toEqual(['sound', 'sound']);
    expect(sound.usage()).toEqual({ inputTokens: 1, outputTokens: 2 });
  });

  it('relayed speech breaks when its events end without the last one', async () => {
    const sound = new RelayedSpeech(openedAnswer(DELTA).answer, true);
    await sound.begin('', 'mp3');
    await sound.next();
    await expect(sound.next()).rejects.toThrow('it ended before its end');
  });

  it('relayed speech stops an upstream whose event exceeds the size limit', async () => {
    const { answer, told } = openedAnswer(
      `data: ${'x'.repeat(MODEL_LIMITS.upstream.sseEventBytes)}`,
    );
    const sound = new RelayedSpeech(answer, true);
    await expect(sound.begin('', 'mp3')).rejects.toThrow('an event is too large');
    expect(told.stops).toBe(1);
  });

  it('relayed speech ends when its reader stops it, and stops its upstream', async () => {
    const { answer, told } = openedAnswer('one', 'two');
    const sound = new RelayedSpeech(answer, false);
    await sound.next();
    sound.stop();
    expect(await sound.next()).toBeUndefined();
    expect(told.stops).toBe(1);
  });
});
