import { describe, expect, it } from 'vitest';
import { cascadeStage, done } from '../../support/cascade-steps.ts';
import { answer, say } from '../../support/cascade-world.ts';
import { DONE, toolCallEvents } from '../../support/stream-upstream.ts';

const { leave, start } = cascadeStage();

const SILENCE = { role: 'user', content: '(silence)' };

describe('the messages of clients to a session of several models', () => {
  it('a client of a cascade session may send every field of a message, with null for the unused ones', async () => {
    const { chat, connect } = await start();
    const client = await connect();
    const nothing = { format: null, transcription: null, turn_detection: null };
    client.say({
      type: 'session.update',
      event_id: null,
      session: {
        type: 'realtime',
        instructions: null,
        tools: null,
        tool_choice: null,
        max_output_tokens: null,
        audio: { input: nothing, output: { voice: null } },
      },
    });
    await client.until(({ type }) => type === 'session.updated');
    const content = [{ type: 'input_text', text: 'hello' }];
    const item = { id: null, type: 'message', role: 'user', content };
    client.say({ type: 'conversation.item.create', previous_item_id: null, item });
    const wanted = { instructions: null, input: null, metadata: { client_event_id: 'mine' } };
    client.say({ type: 'response.create', response: wanted });
    const turn = await done(client);
    expect(turn).toMatchObject({ status: 'completed', metadata: { client_event_id: 'mine' } });
    expect(client.of('error')).toEqual([]);
    expect(chat.seen[0]?.messages).toEqual([{ role: 'user', content: 'hello' }]);
    await leave(client);
  });

  it('a client of a cascade session may send a picture, which the chat model gets', async () => {
    const { chat, connect } = await start();
    const client = await connect();
    const url = `data:image/png;base64,${'A'.repeat(400_000)}`;
    const content = [
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', image_url: url, detail: 'low' },
    ];
    const item = { type: 'message', role: 'user', content };
    client.say({ type: 'conversation.item.create', item });
    client.say({ type: 'response.create' });
    expect(await done(client)).toMatchObject({ status: 'completed' });
    expect(chat.seen[0]?.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url, detail: 'low' } },
        ],
      },
    ]);
    await leave(client);
  });

  it('a client of a cascade session may let the agent speak first, and speak again to a silent caller', async () => {
    const { chat, connect } = await start();
    const client = await connect();
    client.say({ type: 'session.update', session: { instructions: 'Greet him.' } });
    client.say({ type: 'response.create' });
    await done(client);
    client.say({ type: 'response.create' });
    await done(client, 2);
    const system = { role: 'system', content: 'Greet him.' };
    const greeting = { role: 'assistant', content: 'Good day. All is well.' };
    expect(chat.seen.map(({ messages }) => messages)).toEqual([
      [system, SILENCE],
      [system, SILENCE, greeting, SILENCE],
    ]);
    await leave(client);
  });

  it('a client of a cascade session may send long instructions and tools, and the question stays in the prompt', async () => {
    const { chat, connect } = await start();
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
    chat.play(({ messages }) => ({
      pieces: (messages as { role: string }[]).some(({ role }) => role === 'tool')
        ? answer(['Found.'])
        : [...toolCallEvents(call), DONE],
    }));
    const client = await connect();
    const tool = { type: 'function', name: 'look', description: 'd'.repeat(20_000) };
    const instructions = 'i'.repeat(40_000);
    client.say({ type: 'session.update', session: { instructions, tools: [tool] } });
    say(client, 'Where is it?');
    await done(client);
    const output = 'o'.repeat(60_000);
    client.say({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'call_1', output },
    });
    client.say({ type: 'response.create' });
    expect(await done(client, 2)).toMatchObject({ status: 'completed' });
    expect(client.of('error')).toEqual([]);
    expect(chat.seen[1]?.messages).toEqual([
      { role: 'system', content: instructions },
      { role: 'user', content: 'Where is it?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: output },
    ]);
    await leave(client);
  });
});
