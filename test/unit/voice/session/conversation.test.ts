import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { REALTIME_LIMITS } from '../../../../src/protocols/openai-realtime/limits.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import {
  Conversation,
  type ConversationItem,
  messagesOf,
} from '../../../../src/voice/session/conversation.ts';

const message = (id: string, text: string): ConversationItem => ({
  id,
  type: 'message',
  role: 'user',
  status: 'completed',
  content: [{ type: 'text', text }],
});

describe('Conversation', () => {
  it('Conversation holds a bounded number of items and characters, and evicts the oldest first', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: MODEL_LIMITS.link.itemChars }), { maxLength: 400 }),
        (sizes) => {
          const conversation = new Conversation();
          const alive: string[] = [];
          let chars = 0;
          for (const [index, size] of sizes.entries()) {
            const id = `item_${index}`;
            const { evictedIds } = conversation.add(message(id, 'x'.repeat(size)));
            alive.push(id);
            chars += size;
            for (const goneId of evictedIds) {
              expect(goneId).toBe(alive.shift());
              chars -= sizes[Number(goneId.slice(5))] ?? 0;
            }
            expect(alive.length).toBeLessThanOrEqual(VOICE_LIMITS.realtime.items);
            expect(chars).toBeLessThanOrEqual(VOICE_LIMITS.realtime.conversationChars);
          }
          expect(conversation.lastId).toBe(alive.at(-1) ?? null);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('Conversation evicts the oldest images for a new one, and keeps what was said', () => {
    const conversation = new Conversation();
    const part = { type: 'image', url: 'x'.repeat(REALTIME_LIMITS.imageChars) } as const;
    const shown = (id: string) => ({ ...message(id, ''), content: [{ ...part, detail: 'auto' }] });
    const add = (item: object) => conversation.add(item as ConversationItem).evictedIds;
    expect([add(message('said', 'said')), add(shown('a')), add(shown('b'))].flat()).toEqual([]);
    expect(add(shown('c'))).toEqual(['a']);
    conversation.remove('b');
    expect(add(shown('d'))).toEqual([]);
    expect(conversation.items.map(({ id }) => id)).toEqual(['said', 'c', 'd']);
  });

  it('Conversation puts an item behind the named one, and knows the item before it', () => {
    const conversation = new Conversation();
    conversation.add(message('a', 'a'));
    conversation.add(message('c', 'c'));
    conversation.add(message('b', 'b'), 'a');
    conversation.add(message('front', 'f'), 'root');
    expect(['front', 'a', 'b', 'c'].map((id) => conversation.before(id))).toEqual([
      null,
      'front',
      'a',
      'b',
    ]);
    expect(conversation.remove('a')).toBe(true);
    expect(conversation.remove('a')).toBe(false);
    expect(conversation.before('b')).toBe('front');
  });

  it('Conversation returns the newest messages that fit, oldest of them first, and always the last', () => {
    const conversation = new Conversation();
    for (const id of ['one', 'two', 'three']) conversation.add(message(id, id));
    const said = (chars: number) =>
      messagesOf(conversation.items, chars).map(({ content }) => content);
    expect(said(100)).toEqual(['one', 'two', 'three']);
    expect(said(8)).toEqual(['two', 'three']);
    expect(said(1)).toEqual(['three']);
  });
});
