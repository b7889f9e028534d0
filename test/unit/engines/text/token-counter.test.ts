import { expect, it } from 'vitest';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';
import { createTokenCounter } from '../../../../src/engines/text/text-engines.ts';
import type { TextContract } from '../../../../src/engines/text/text-worker.ts';
import type { WorkerClient } from '../../../../src/engines/threads/worker-client.ts';

const { batchChars: countBatchChars, chars: countChars } = ENGINE_LIMITS.count;

/** A worker that finds one token for every two characters, and remembers how long each text was. */
function counter() {
  const asked: number[] = [];
  const call = async (_: string, text: string) => {
    asked.push(text.length);
    return text.length / 2;
  };
  const client = { call } as unknown as WorkerClient<TextContract>;
  return { asked, tokens: createTokenCounter({ client, requirePresent: () => {} }) };
}

it('the tokens of a long text are counted in pieces, so that other requests have their turn in between', async () => {
  const { asked, tokens } = counter();
  expect(await tokens.count('x'.repeat(countBatchChars + 10), 1)).toBe((countBatchChars + 10) / 2);
  expect(asked).toEqual([countBatchChars, 10]);
  expect(await tokens.count('', 1)).toBe(0);
});

it('the tokens of a text beyond the counting limit are extrapolated from its beginning', async () => {
  const { asked, tokens } = counter();
  expect(await tokens.count('x'.repeat(3 * countChars), 1)).toBe((3 * countChars) / 2);
  expect(asked.reduce((sum, chars) => sum + chars, 0)).toBe(countChars);
});
