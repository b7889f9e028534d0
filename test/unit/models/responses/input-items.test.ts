import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { readConversation } from '../../../../src/models/responses/input-items.ts';
import type { ResponsesRequest } from '../../../../src/models/responses/responses-request.ts';

const message = { type: 'message', id: 'msg_1', role: 'assistant', content: 'Hi.' };
const reference = (id: string) => ({ type: 'item_reference', id });

/** Reads an input where two items are kept, and what was asked of the store. */
async function read(input: ResponsesRequest['input'], previous?: string) {
  const asked: unknown[][] = [];
  const kept = {
    conversation: async () => ({ bytes: 700, items: [message] }),
    items: async (...all: unknown[]) => {
      asked.push(all);
      const ids = all[1] as readonly string[];
      return new Map(ids.map((id) => [id, { ...message, id }]));
    },
  };
  const request = { model: 'm', input, previous_response_id: previous };
  const conversation = await readConversation(kept, 7, request as ResponsesRequest);
  return { asked, conversation };
}

describe('references to items', () => {
  it('item references in a Responses input are replaced by their items', async () => {
    const said = { role: 'user', content: 'And?' };
    const { asked, conversation } = await read([reference('a'), said, { id: 'b' }]);
    expect(conversation.own).toEqual([{ ...message, id: 'a' }, said, { ...message, id: 'b' }]);
    expect(asked).toEqual([[7, ['a', 'b'], 0]]);
  });

  it('item references count together with the items of the previous response', async () => {
    expect((await read([reference('a')], 'resp_1')).asked).toEqual([[7, ['a'], 700]]);
  });

  it('item references with the same id are refused before anything is read', async () => {
    for (const many of [2, MODEL_LIMITS.chat.messages]) {
      const input = Array.from({ length: many }, () => reference('a'));
      await expect(read(input)).rejects.toMatchObject({ status: 400 });
    }
    await expect(read([reference('a'), { id: 'a' }])).rejects.toMatchObject({ status: 400 });
  });
});
