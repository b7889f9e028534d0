import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { parseClientEvent } from '../../../../src/protocols/openai-realtime/client-event.ts';

const problemOf = (value: unknown) => {
  const parsed = parseClientEvent(typeof value === 'string' ? value : JSON.stringify(value));
  return 'problem' in parsed ? parsed.problem : undefined;
};

const SHOWN = { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: null };

describe('parseClientEvent', () => {
  it('parseClientEvent never throws, whatever the client sends', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const parsed = parseClientEvent(text);
        expect('event' in parsed || parsed.problem.message.length > 0).toBe(true);
      }),
    );
  });

  it('parseClientEvent reads every event of the protocol', () => {
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] };
    for (const event of [
      { type: 'session.update', session: { type: 'realtime' } },
      { type: 'input_audio_buffer.append', audio: 'AAAA' },
      { type: 'input_audio_buffer.commit' },
      { type: 'input_audio_buffer.clear' },
      { type: 'conversation.item.create', item, previous_item_id: null },
      { type: 'conversation.item.retrieve', item_id: 'item_1' },
      { type: 'conversation.item.delete', item_id: 'item_1' },
      { type: 'conversation.item.truncate', item_id: 'i', content_index: 0, audio_end_ms: 12.5 },
      { type: 'response.create' },
      { type: 'response.cancel', response_id: 'resp_1' },
    ]) {
      expect(problemOf({ ...event, event_id: 'e' })).toBeUndefined();
    }
  });

  it('parseClientEvent takes null for an absent id', () => {
    const item = { id: null, type: 'message', role: 'user', content: [SHOWN] };
    for (const event of [
      { type: 'conversation.item.create', item },
      { type: 'response.cancel', response_id: null },
    ]) {
      expect(problemOf({ ...event, event_id: null })).toBeUndefined();
    }
  });

  it.each([
    [{ ...SHOWN, image_url: 'ftp://example.com/a.png' }, 'user', 'item.content.0.image_url'],
    [{ ...SHOWN, image_url: 'data:text/html;base64,AAAA' }, 'user', 'item.content.0.image_url'],
    [{ ...SHOWN, image_url: undefined }, 'user', 'item.content.0.image_url'],
    [{ ...SHOWN, detail: 'most' }, 'user', 'item.content.0.detail'],
    [{ ...SHOWN, image_url: 'data:image/svg+xml;base64,AA' }, 'user', 'item.content.0.image_url'],
    [SHOWN, 'assistant', 'item.content'],
  ])(
    'parseClientEvent rejects anything but an image in a user message: %j',
    (part, role, param) => {
      const item = { type: 'message', role, content: [part] };
      expect(problemOf({ type: 'conversation.item.create', item })).toMatchObject({ param });
    },
  );

  it('parseClientEvent names the wrong member and echoes the event id', () => {
    const wrong = { type: 'conversation.item.delete', event_id: 'e1', item_id: null };
    expect(problemOf(wrong)).toMatchObject({
      code: 'invalid_value',
      param: 'item_id',
      eventId: 'e1',
    });
    expect(problemOf([])).toMatchObject({ code: 'missing_required_parameter', param: 'type' });
    expect(problemOf({ type: 'x'.repeat(1_000) })?.message.length).toBeLessThan(120);
  });

  it.each([
    [{ type: 'conversation.item.delete' }, 'item_id'],
    [{ type: 'conversation.item.truncate', item_id: 'i', content_index: 0 }, 'audio_end_ms'],
    [{ type: 'conversation.item.create' }, 'item'],
    [{ type: 'conversation.item.create', item: {} }, 'item.type'],
    [
      {
        type: 'conversation.item.create',
        item: { type: 'message', role: 'user', content: [{ type: 'input_text' }] },
      },
      'item.content.0.text',
    ],
    [{ type: 'input_audio_buffer.append' }, 'audio'],
    [{ type: 'session.update' }, 'session'],
  ])('parseClientEvent distinguishes a missing member from a wrong one: %j', (event, param) => {
    const code = 'missing_required_parameter';
    expect(problemOf({ ...event, event_id: 'e1' })).toMatchObject({ code, param, eventId: 'e1' });
  });

  it('parseClientEvent bounds the text of an item', () => {
    const content = [{ type: 'input_text', text: 'x'.repeat(MODEL_LIMITS.link.itemChars + 1) }];
    const item = { type: 'message', role: 'user', content };
    expect(problemOf({ type: 'conversation.item.create', item })?.code).toBe('invalid_value');
    const half = { type: 'input_text', text: 'x'.repeat(MODEL_LIMITS.link.itemChars / 2) };
    const of = (...parts: object[]) =>
      problemOf({ type: 'conversation.item.create', item: { ...item, content: parts } });
    expect(of(half, half)).toBeUndefined();
    expect(of(half, half, { type: 'input_text', text: 'x' })).toMatchObject({
      param: 'item.content',
    });
  });
});
