import { expect, it } from 'vitest';
import { signedId } from '../../../../src/models/chat/signed-call.ts';
import { withOwnToolIds } from '../../../../src/models/messages/own-tool-ids.ts';

const requestOf = (id: string) => ({
  model: 'm',
  messages: [
    { role: 'user' as const, content: 'hi' },
    { role: 'assistant' as const, content: [{ type: 'tool_use', id, name: 'f', input: {} }, 7] },
    { role: 'user' as const, content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] },
  ],
});

it('a Messages upstream gets tool calls and results under the ids that their own upstreams gave', () => {
  expect(withOwnToolIds(requestOf(signedId('toolu_1', 'c2ln')))).toEqual(requestOf('toolu_1'));
  const plain = requestOf('toolu_1');
  expect(withOwnToolIds(plain)).toBe(plain);
});
