import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { EventSender } from '../../../../src/protocols/openai-realtime/event-sender.ts';
import {
  applyItemEvent,
  type ItemEvent,
} from '../../../../src/protocols/openai-realtime/item-commands.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import { Conversation } from '../../../../src/voice/session/conversation.ts';
import { FakeSocket } from '../../../support/voice-world.ts';

type ItemCreated = Extract<ItemEvent, { type: 'conversation.item.create' }>;

function world() {
  const socket = new FakeSocket();
  const sender = new EventSender(systemRandom);
  sender.attach(socket);
  const conversation = new Conversation();
  const session = { conversation, spoken: () => undefined, heardUntil() {} };
  const deps = { sender, session, random: systemRandom };
  return { socket, conversation, deps };
}

const create = (id: string, text: string): ItemCreated => ({
  type: 'conversation.item.create',
  item: { id, type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

const call = (call_id: string): ItemCreated => ({
  type: 'conversation.item.create',
  item: { id: `of_${call_id}`, type: 'function_call', call_id, name: 'f', arguments: '{}' },
});

const output = (call_id: string): ItemCreated => ({
  type: 'conversation.item.create',
  item: { type: 'function_call_output', call_id, output: 'sunny' },
});

describe('applyItemEvent', () => {
  it('applyItemEvent adds an item at the requested place, and confirms it', () => {
    const { socket, deps } = world();
    applyItemEvent(deps, create('a', 'first'));
    applyItemEvent(deps, { ...create('b', 'second'), previous_item_id: 'root' });
    expect(socket.of('conversation.item.added').map((event) => event.previous_item_id)).toEqual([
      null,
      null,
    ]);
    expect(socket.of('conversation.item.done')).toHaveLength(2);
  });

  it('applyItemEvent confirms an image without its data, and returns the data when the image is retrieved', () => {
    const { socket, deps } = world();
    const data = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' } as const;
    const link = { type: 'input_image', image_url: 'https://example.com/a.png' } as const;
    applyItemEvent(deps, {
      type: 'conversation.item.create',
      item: { id: 'a', type: 'message', role: 'user', content: [data, link] },
    });
    applyItemEvent(deps, { type: 'conversation.item.retrieve', item_id: 'a' });
    const contents = ['added', 'done', 'retrieved'].map((verb) => {
      const [event] = socket.of(`conversation.item.${verb}`);
      return (event as unknown as { item: { content: object[] } }).item.content;
    });
    const detail = 'auto';
    const shown = [
      { type: 'input_image', detail },
      { ...link, detail },
    ];
    expect(contents).toEqual([shown, shown, [{ ...data, detail }, shown[1]]]);
  });

  it('applyItemEvent rejects a used id and an unknown place, and changes nothing', () => {
    const { conversation, socket, deps } = world();
    applyItemEvent(deps, create('a', 'first'));
    expect(applyItemEvent(deps, create('a', 'again'))?.code).toBe('item_already_exists');
    const nowhere = { ...create('b', 'x'), previous_item_id: 'gone' };
    expect(applyItemEvent(deps, nowhere)).toMatchObject({
      code: 'item_not_found',
      param: 'previous_item_id',
    });
    expect(conversation.lastId).toBe('a');
    expect(socket.of('conversation.item.added')).toHaveLength(1);
  });

  it('applyItemEvent truncates only spoken items', () => {
    const { deps } = world();
    applyItemEvent(deps, create('a', 'first'));
    const truncate = {
      type: 'conversation.item.truncate',
      item_id: 'a',
      content_index: 0,
      audio_end_ms: 10,
    } as const;
    expect(applyItemEvent(deps, truncate)?.code).toBe('invalid_value');
    expect(applyItemEvent(deps, { ...truncate, item_id: 'b' })?.code).toBe(
      'item_truncate_invalid_item_id',
    );
  });

  it('applyItemEvent names the action in the error for an unknown item', () => {
    const { deps } = world();
    for (const verb of ['retrieve', 'delete'] as const) {
      const event = { type: `conversation.item.${verb}`, item_id: 'none' } as const;
      expect(applyItemEvent(deps, event)).toMatchObject({
        code: `item_${verb}_invalid_item_id`,
        param: 'item_id',
      });
    }
  });

  it('applyItemEvent takes a tool output only when its tool call exists, from the model or the client', () => {
    const { conversation, deps } = world();
    expect(applyItemEvent(deps, output('call_1'))).toMatchObject({
      code: 'invalid_tool_call_id',
      param: 'item.call_id',
    });
    expect(conversation.lastId).toBeNull();
    expect(applyItemEvent(deps, call('call_1'))).toBeUndefined();
    expect(applyItemEvent(deps, output('call_1'))).toBeUndefined();
    expect(applyItemEvent(deps, output('call_2'))?.code).toBe('invalid_tool_call_id');
  });

  it('applyItemEvent takes a tool output when its call was evicted, and not when the client deleted the call', () => {
    const { conversation, deps } = world();
    for (const id of ['call_1', 'call_2']) applyItemEvent(deps, call(id));
    for (let i = 0; i < VOICE_LIMITS.realtime.items; i++)
      applyItemEvent(deps, create(`m${i}`, 'x'));
    expect(conversation.find('of_call_1')).toBeUndefined();
    expect(applyItemEvent(deps, output('call_1'))).toBeUndefined();
    applyItemEvent(deps, call('call_3'));
    applyItemEvent(deps, { type: 'conversation.item.delete', item_id: 'of_call_3' });
    expect(applyItemEvent(deps, output('call_3'))?.code).toBe('invalid_tool_call_id');
  });
});
