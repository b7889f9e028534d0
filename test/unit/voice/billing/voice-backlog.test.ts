import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AudioBacklog } from '../../../../src/voice/billing/voice-backlog.ts';

describe('AudioBacklog', () => {
  it('AudioBacklog returns every byte in order, however the audio was cut and put back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 150_000 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 70_000 }),
        (sizes, bite) => {
          const backlog = new AudioBacklog();
          let next = 0;
          for (const size of sizes) {
            backlog.push(Uint8Array.from({ length: size }, () => next++ % 251));
          }
          expect(backlog.bytes).toBe(next);
          let at = 0;
          while (backlog.bytes > 0) {
            const block = backlog.shift();
            const eaten = block.subarray(0, bite);
            for (const byte of eaten) if (byte !== at++ % 251) throw new Error(`byte ${at - 1}`);
            backlog.unshift(block.subarray(eaten.length));
          }
          expect(at).toBe(next);
        },
      ),
      { numRuns: 30 },
    );
  });
});
