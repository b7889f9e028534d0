import { describe, expect, it, vi } from 'vitest';
import { readMeteredEvent } from '../../../../../src/protocols/openai-realtime/relay/metered-event.ts';
import { usageOf } from '../../../../support/realtime-upstream.ts';

const read = (event: object | string) =>
  readMeteredEvent(Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)));
const done = (usage: unknown, more: object = {}) =>
  read({ type: 'response.done', response: { id: 'r1', status: 'completed', usage, ...more } });

describe('what is read of the frames of an upstream', () => {
  it('a realtime response.created frame is read as the start of a turn', () => {
    const began = { type: 'response.created', response: { id: 'r1' } };
    expect(read(began)).toEqual({ kind: 'began', id: 'r1' });
    expect(read({ type: 'response.created' })).toEqual({ kind: 'began', id: null });
  });

  it('a realtime turn’s usage is read by kind of token', () => {
    const usage = usageOf({
      textIn: 119,
      audioIn: 13,
      cachedText: 64,
      cachedAudio: 3,
      textOut: 30,
      audioOut: 91,
    });
    expect(done(usage)).toEqual({
      kind: 'done',
      id: 'r1',
      isFailed: false,
      isCancelled: false,
      tokens: {
        textIn: 119,
        audioIn: 13,
        cachedText: 64,
        cachedAudio: 3,
        textOut: 30,
        audioOut: 91,
      },
    });
  });

  it('a realtime transcript’s usage is read in tokens or seconds', () => {
    const type = 'conversation.item.input_audio_transcription.completed';
    const item = { type, item_id: 'item_1', content_index: 0 };
    const tokens = { type: 'tokens', input_tokens: 20, output_tokens: 7 };
    expect(read({ ...item, usage: tokens })).toMatchObject({
      kind: 'heard',
      id: 'item_1/0',
      seconds: null,
      tokens: { textIn: 0, audioIn: 20, textOut: 7, audioOut: 0 },
    });
    expect(read({ ...item, usage: { type: 'duration', seconds: 1.5 } })).toMatchObject({
      tokens: null,
      seconds: 1.5,
    });
    expect(read(item)).toMatchObject({ tokens: null, seconds: null });
  });

  it.each([
    ['nothing of which kind they were', {}, { textIn: 0, audioIn: 100, textOut: 0, audioOut: 50 }],
    [
      'more of a kind than there were in all',
      {
        input_token_details: { text_tokens: 300, audio_tokens: 9, cached_tokens: 900 },
        output_token_details: { text_tokens: 70 },
      },
      { textIn: 100, audioIn: 0, cachedText: 100, cachedAudio: 0, textOut: 50, audioOut: 0 },
    ],
    [
      'what was cached, but not of which kind it was',
      { input_token_details: { text_tokens: 40, audio_tokens: 60, cached_tokens: 70 } },
      { textIn: 40, audioIn: 60, cachedText: 40, cachedAudio: 30 },
    ],
    [
      'images, which are billed as text',
      { input_token_details: { text_tokens: 10, image_tokens: 30, audio_tokens: 60 } },
      { textIn: 40, audioIn: 60 },
    ],
  ])('a realtime turn’s usage adds up to its sums when it states %s', (_, details, tokens) => {
    const usage = { input_tokens: 100, output_tokens: 50, ...details };
    expect(done(usage)).toMatchObject({ tokens });
  });

  it.each([
    ['none', undefined],
    ['null', null],
    ['a text', 'many'],
    ['no sums', { total_tokens: 5 }],
    ['a negative sum', { input_tokens: -1, output_tokens: 1 }],
    ['a fraction', { input_tokens: 1.5, output_tokens: 1 }],
    ['a sum beyond belief', { input_tokens: 1e12, output_tokens: 1 }],
  ])('a realtime turn has no usage when its usage is %s', (_, usage) => {
    expect(done(usage)).toMatchObject({ kind: 'done', tokens: null, isFailed: false });
    expect(done(usage, { status: 'failed' })).toMatchObject({ tokens: null, isFailed: true });
  });

  it.each([
    '',
    '{',
    '{"type":"',
    '{"type":"response.done',
    `{"type":"${'x'.repeat(500)}"}`,
    '{"type":"toString"}',
    '[{"type":"response.done"}]',
    'null "response.done"',
    '{"delta":"\\"response.done\\"","type":"response.output_text.delta"}',
    '{"kind":"response.done","type":"x"}',
  ])('a realtime frame is ignored when it reads: %s', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it('a realtime frame is read wherever its type stands and however it is spaced', () => {
    const response = { id: 'r1', usage: usageOf({ audioOut: 3 }) };
    expect(read({ event_id: 'e', response, type: 'response.done' })).toMatchObject({ id: 'r1' });
    expect(read(JSON.stringify({ type: 'response.done', response }, null, 2))).toMatchObject({
      tokens: { audioOut: 3 },
    });
  });

  it('a realtime frame of audio is not parsed', () => {
    const delta = { delta: 'A'.repeat(10_000) };
    const parse = vi.spyOn(JSON, 'parse');
    const frames = [
      { type: 'response.output_audio.delta', ...delta },
      { event_id: 'e', type: 'response.output_audio.delta', ...delta },
      { type: 'input_audio_buffer.speech_started' },
    ].map((event) => Buffer.from(JSON.stringify(event)));
    for (const frame of frames) expect(readMeteredEvent(frame)).toBeUndefined();
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });
});
