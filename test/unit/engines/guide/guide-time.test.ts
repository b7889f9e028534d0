import * as encoder from 'gpt-tokenizer/encoding/cl100k_base';
import { describe, expect, it } from 'vitest';
import { answerGuide } from '../../../../src/engines/guide/guide-answer.ts';
import { GUIDE_CORPUS } from '../../../../src/engines/guide/guide-corpus.ts';
import { createRetriever } from '../../../../src/engines/guide/guide-retrieve.ts';

const nowMs = Date.UTC(2026, 10, 21, 9, 5);
const facts = { agentName: 'a', spendableRaw: 0n, heldRaw: 0n, spentRaw: 0n };
const retriever = createRetriever(GUIDE_CORPUS);

async function answerTo(content: string): Promise<string> {
  const messages = [{ role: 'user', content } as const];
  return (await answerGuide({ messages, facts, maxTokens: 100, nowMs }, retriever, encoder)).text;
}

describe('guide time', () => {
  it('the guide tells the time and the date in UTC from the instant it is given', async () => {
    expect(await answerTo('What time is it?')).toBe(
      'It is 09:05 UTC on Saturday, 21 November 2026.',
    );
    expect(await answerTo("What's the date today")).toBe('Today is Saturday, 21 November 2026.');
    expect(await answerTo('which day is it')).toContain('Saturday');
  });

  it('the guide’s clock does not answer other questions', async () => {
    expect(await answerTo('how many times did I call')).not.toMatch(/UTC|2026/);
  });
});
