import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { openSession, response } from '../../../support/realtime-session.ts';
import { type SentEvent, settleAll } from '../../../support/voice-world.ts';

type Session = Awaited<ReturnType<typeof openSession>>;

const user = (text: string) => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});
const asked = ({ engines }: Session) =>
  engines.guide.asked.at(-1)?.messages.map(({ content }) => content);
const codes = ({ socket }: Session) =>
  socket.of('error').map(({ error }) => (error as { code: string }).code);

describe('an out-of-band response', () => {
  it('an out-of-band response answers its own input, and does not enter the conversation', async () => {
    const session = await openSession();
    const { send, say, socket } = session;
    await say('first');
    const before = socket.types().length;
    send({
      type: 'response.create',
      response: {
        conversation: 'none',
        metadata: { topic: 'labels' },
        output_modalities: ['text'],
        input: [user('label this'), { type: 'item_reference', id: firstItem(session) }],
      },
    });
    await settleAll();
    expect(asked(session)).toEqual(['label this', 'first']);
    const types = socket.types().slice(before);
    expect(types.filter((type) => type.startsWith('conversation.'))).toEqual([]);
    expect(response(socket.of('response.done')[1])).toMatchObject({
      status: 'completed',
      conversation_id: null,
      metadata: { topic: 'labels' },
      output: [{ content: [{ type: 'output_text' }] }],
    });
    await say('second');
    expect(asked(session)).toEqual(['first', 'You said first. Is that so?', 'second']);
  });

  it('an out-of-band response takes null for an absent member', async () => {
    const { send, say, socket } = await openSession();
    await say('first');
    const wanted = {
      instructions: null,
      conversation: null,
      input: null,
      metadata: { key: 'mine' },
    };
    send({ type: 'response.create', event_id: null, response: { ...wanted, tools: null } });
    await settleAll();
    expect(socket.of('error')).toEqual([]);
    expect(response(socket.of('response.done')[1])).toMatchObject({
      status: 'completed',
      metadata: { key: 'mine' },
      conversation_id: expect.any(String),
    });
  });

  it('an out-of-band response takes no more than a conversation may hold, however often it refers to an item', async () => {
    const session = await openSession();
    const { send, socket } = session;
    const long = { ...user('x'.repeat(MODEL_LIMITS.link.itemChars)), id: 'long' };
    send({ type: 'conversation.item.create', item: long });
    const reference = { type: 'item_reference', id: 'long' };
    const ask = (times: number) =>
      send({ type: 'response.create', response: { input: Array(times).fill(reference) } });
    ask(3);
    expect(socket.of('error')[0]?.error).toMatchObject({ param: 'response.input' });
    ask(2);
    await settleAll();
    expect(socket.of('error')).toHaveLength(1);
    expect(socket.of('response.done')).toHaveLength(1);
  });

  it('an out-of-band response waits for the response in progress, in a bounded queue', async () => {
    const session = await openSession();
    const { engines, send, say, socket } = session;
    let think = () => {};
    engines.guide.thinking = () =>
      new Promise((resolve) => {
        think = resolve;
      });
    await say('hello');
    engines.guide.thinking = undefined;
    for (let i = 0; i < 9; i++) {
      send({ type: 'response.create', response: { conversation: 'none', input: [user(`${i}`)] } });
    }
    expect(codes(session)).toEqual(['too_many_responses']);
    think();
    await settleAll();
    const done = socket.of('response.done').map((event) => response(event).status);
    expect(done).toEqual(Array(9).fill('completed'));
    expect(socket.of('response.created')).toHaveLength(9);
  });

  it('an out-of-band response is cancelled by its id alone, not by a cancel without an id', async () => {
    const session = await openSession();
    const { engines, send, socket } = session;
    engines.guide.thinking = () => new Promise(() => {});
    send({ type: 'response.create', response: { conversation: 'none', input: [] } });
    await settleAll();
    const [created] = socket.of('response.created');
    const { id } = (created as SentEvent).response as { id: string };
    send({ type: 'response.cancel' });
    expect(codes(session)).toEqual(['response_cancel_not_active']);
    send({ type: 'response.cancel', response_id: id });
    await settleAll();
    expect(response(socket.of('response.done')[0]).status).toBe('cancelled');
  });

  it.each([
    ['an unknown conversation', { conversation: 'other' }, 'response.conversation'],
    ['an unknown item', { input: [{ type: 'item_reference', id: 'x' }] }, 'response.input.0.id'],
    ['metadata too long', { metadata: { a: 'x'.repeat(513) } }, 'response.metadata.a'],
    [
      'a sound without a transcript',
      { input: [{ type: 'message', role: 'user', content: [{ type: 'input_audio', audio: '' }] }] },
      'response.input.0.content.0.transcript',
    ],
    ['a session of another kind', { type: 'transcription' }, 'response.type'],
  ])('an out-of-band response is rejected with the path of %s', async (_, wanted, param) => {
    const { send, socket } = await openSession();
    send({ type: 'response.create', event_id: 'mine', response: wanted });
    expect(socket.of('error')[0]?.error).toMatchObject({ param, event_id: 'mine' });
    expect(socket.of('response.created')).toEqual([]);
  });
});

const firstItem = ({ socket }: Session) => {
  const [first] = socket.of('conversation.item.done');
  return ((first as SentEvent).item as { id: string }).id;
};
