import { describe, expect, it } from 'vitest';
import { openSession, response } from '../../../support/realtime-session.ts';
import { settleAll } from '../../../support/voice-world.ts';

describe('an answer', () => {
  it('a truncated answer keeps exactly its heard words in the history', async () => {
    const { engines, socket, send, say } = await openSession();
    engines.guide.answers.push({
      text: 'One two three four. Five six seven eight.',
      usage: { inputTokens: 1, outputTokens: 8 },
    });
    await say('count');
    const item = socket.of('response.output_item.done')[0]?.item as { id: string };
    const about = { item_id: item.id, content_index: 0 };
    send({ type: 'conversation.item.truncate', ...about, audio_end_ms: 650 });
    send({ type: 'conversation.item.retrieve', item_id: item.id });
    expect(socket.of('conversation.item.truncated')[0]).toMatchObject({ audio_end_ms: 650 });
    expect(socket.of('conversation.item.retrieved')[0]?.item).toMatchObject({
      content: [{ type: 'output_audio', transcript: 'One two three four. Five six' }],
    });
    await say('and then');
    const asked = engines.guide.asked.at(-1)?.messages.map(({ content }) => content);
    expect(asked).toEqual(['count', 'One two three four. Five six', 'and then']);
    send({ type: 'conversation.item.truncate', ...about, audio_end_ms: 99_000 });
    expect(socket.of('error')).toHaveLength(1);
  });

  it('an answer that was truncated while it was being spoken keeps its heard words', async () => {
    const { engines, socket, send, say } = await openSession();
    engines.guide.answers.push({
      text: 'One two three four. Five six seven eight.',
      usage: { inputTokens: 1, outputTokens: 8 },
    });
    let goOn = () => {};
    engines.tts.flite.between = () =>
      new Promise((resolve) => {
        goOn = resolve;
      });
    await say('count');
    const item = socket.of('response.output_item.added')[0]?.item as { id: string };
    const about = { item_id: item.id, content_index: 0 };
    send({ type: 'conversation.item.truncate', ...about, audio_end_ms: 250 });
    goOn();
    await settleAll();
    expect(socket.of('response.done')).toHaveLength(1);
    send({ type: 'conversation.item.retrieve', item_id: item.id });
    expect(socket.of('conversation.item.retrieved')[0]?.item).toMatchObject({
      content: [{ type: 'output_audio', transcript: 'One two' }],
    });
  });

  it('an answer is cancelled on request, and cannot be cancelled when it is over', async () => {
    const { engines, socket, send, say } = await openSession();
    send({ type: 'response.cancel', event_id: 'mine' });
    expect(socket.of('error')[0]).toMatchObject({
      error: { code: 'response_cancel_not_active', event_id: 'mine' },
    });
    engines.guide.thinking = () => new Promise(() => {});
    await say('hello');
    send({ type: 'response.cancel' });
    await settleAll();
    expect(response(socket.of('response.done')[0])).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'client_cancelled' },
    });
  });

  it('an answer in the conversation excludes a second one at the same time', async () => {
    const { engines, socket, send, say } = await openSession();
    engines.guide.thinking = () => new Promise(() => {});
    await say('hello');
    send({ type: 'response.create' });
    expect(socket.of('error')[0]).toMatchObject({
      error: { code: 'conversation_already_has_active_response' },
    });
    expect(socket.of('response.created')).toHaveLength(1);
  });

  it('an answer calls a tool, and the tool output gets the next answer', async () => {
    const { engines, socket, send } = await openSession();
    engines.guide.answers.push({
      text: '',
      toolCall: { name: 'weather', argumentsJson: '{"city":"Bern"}' },
      usage: { inputTokens: 1, outputTokens: 4 },
    });
    send({
      type: 'session.update',
      session: { tools: [{ type: 'function', name: 'weather', parameters: {} }] },
    });
    send({ type: 'response.create' });
    await settleAll();
    const call = socket.of('response.output_item.done')[0]?.item as { call_id: string };
    expect(call).toMatchObject({ type: 'function_call', status: 'completed', name: 'weather' });
    send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: call.call_id, output: 'sunny' },
    });
    send({ type: 'response.create' });
    await settleAll();
    expect(engines.guide.asked.at(-1)?.messages.at(-1)).toEqual({ role: 'tool', content: 'sunny' });
  });

  it('a tool output for a call of an out-of-band answer is not added to the conversation', async () => {
    const { engines, socket, send } = await openSession();
    engines.guide.answers.push({
      text: '',
      toolCall: { name: 'weather', argumentsJson: '{}' },
      usage: { inputTokens: 1, outputTokens: 4 },
    });
    send({
      type: 'session.update',
      session: { tools: [{ type: 'function', name: 'weather', parameters: {} }] },
    });
    send({ type: 'response.create', response: { conversation: 'none' } });
    await settleAll();
    const call = socket.of('response.output_item.done')[0]?.item as { call_id: string };
    send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: call.call_id, output: 'sunny' },
    });
    expect(socket.of('error')[0]?.error).toMatchObject({
      type: 'invalid_request_error',
      code: 'invalid_tool_call_id',
      param: 'item.call_id',
    });
  });
});
