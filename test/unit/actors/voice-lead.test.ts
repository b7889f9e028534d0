import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VoiceLead } from '../../../src/actors/voice-lead.ts';

describe('VoiceLead', () => {
  it('gives back the newest frames in order, as many as it can hold', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.nat(30),
        fc.nat(12),
        (frames, pushed, wanted) => {
          const lead = new VoiceLead({ frames, frameSamples: 2 });
          for (let i = 0; i < pushed; i++) lead.push(Int16Array.of(i, i));
          const count = Math.min(frames, pushed, wanted);
          const newest = Array.from({ length: count }, (_, i) => pushed - count + i);
          expect(lead.take(wanted).map((frame) => frame[0])).toEqual(newest);
          expect(lead.take(wanted)).toEqual([]);
        },
      ),
    );
  });

  it('keeps nothing when it has no room', () => {
    const lead = new VoiceLead({ frames: 0, frameSamples: 2 });
    lead.push(Int16Array.of(1, 1));
    expect(lead.take(3)).toEqual([]);
  });
});
