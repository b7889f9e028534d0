import { expect, it } from 'vitest';
import { RelayedChat } from '../../../../../src/models/providers/openai/chat-stream.ts';
import { openedAnswer } from '../../../../support/opened-answer.ts';

const WORD = 'data: {"choices":[{"delta":{"content":"Hi"}}],"usage":null}\n\n';
const USED = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\n';
const DONE = 'data: [DONE]\n\n';

async function relayed(wantsUsage: boolean): Promise<string> {
  const chat = new RelayedChat(openedAnswer(WORD, USED, DONE).answer, { wantsUsage });
  let said = '';
  for (let next = await chat.next(); next !== undefined; next = await chat.next()) {
    said += Buffer.from(next).toString();
  }
  expect(chat.metered().usage).toMatchObject({ inputTokens: 3, outputTokens: 1 });
  return said;
}

it('a chat stream has no usage when the client did not request it, not even null', async () => {
  expect(await relayed(false)).toBe('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n');
});

it('a chat stream has all usage of its upstream when the client requested it', async () => {
  expect(await relayed(true)).toBe(WORD + USED);
});
