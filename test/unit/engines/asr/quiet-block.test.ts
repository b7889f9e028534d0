import { describe, expect, it } from 'vitest';
import { energy } from '../../../../media/pcm.ts';
import { createQuietBlock, type QuietBlock } from '../../../../src/engines/asr/quiet-block.ts';

const loud = new Int16Array(1_600).fill(4_000);
const soft = new Int16Array(1_600).fill(300);

const isQuiet = (quiet: QuietBlock, pcm: Int16Array) => quiet.isQuiet(pcm, energy(pcm));

describe('quiet block', () => {
  it('a block counts as a pause only when it is far softer than its utterance', () => {
    const quiet = createQuietBlock();
    expect(isQuiet(quiet, loud)).toBe(false);
    expect(isQuiet(quiet, loud)).toBe(false);
    expect(isQuiet(quiet, soft)).toBe(true);
    quiet.reset();
    expect(isQuiet(quiet, soft)).toBe(false);
  });
});
