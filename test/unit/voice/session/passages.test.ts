import { describe, expect, it } from 'vitest';
import { Passages } from '../../../../src/voice/session/passages.ts';
import type { Passage } from '../../../../src/voice/speech-text/speech-parts.ts';

describe('Passages', () => {
  it('Passages returns what was put in, in order, waits for more, and ends when it is ended', async () => {
    const passages = new Passages();
    expect(passages.isEmpty).toBe(true);
    const [one, two, three] = ['one', 'two', 'three'].map((text) => ({ text, spoken: text }));
    passages.push(one as Passage);
    passages.push(two as Passage);
    expect(passages.isEmpty).toBe(false);
    expect([await passages.next(), await passages.next()]).toEqual([one, two]);
    const next = passages.next();
    passages.push(three as Passage);
    expect(await next).toBe(three);
    const last = passages.next();
    passages.end();
    expect(await last).toBeUndefined();
  });
});
