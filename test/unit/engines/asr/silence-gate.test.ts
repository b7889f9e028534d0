import { describe, expect, it } from 'vitest';
import { energy } from '../../../../media/pcm.ts';
import { createSilenceGate, type SilenceGate } from '../../../../src/engines/asr/silence-gate.ts';

const block = (level: number) =>
  Int16Array.from({ length: 1_600 }, (_, i) => (i % 2 ? level : -level));
const pass = (gate: SilenceGate, pcm: Int16Array) => gate.pass(pcm, energy(pcm));
const passed = (gate: SilenceGate, levels: readonly number[]) =>
  levels.map((level) => pass(gate, block(level)).map((pcm) => Math.abs(pcm[0] as number)));

describe('silence gate', () => {
  it('the silence gate passes speech and the first 300 ms of a pause, and holds the rest of the pause back', () => {
    const gate = createSilenceGate();
    expect(passed(gate, [900, 0, 0, 0, 0, 0])).toEqual([[900], [0], [0], [0], [], []]);
  });

  it('the silence gate gives the recogniser the held-back onset when speech returns', () => {
    const gate = createSilenceGate();
    passed(gate, [900, 0, 0, 0, 0, 1, 2]);
    expect(pass(gate, block(900)).map((pcm) => pcm[1])).toEqual([1, 2, 900]);
  });

  it('the silence gate learns the noise of a line, and never takes loud sound for silence', () => {
    const noisy = createSilenceGate();
    const levels = new Array<number>(100).fill(90);
    expect(passed(noisy, levels).slice(-10).flat()).toEqual([]);
    const loud = createSilenceGate();
    expect(passed(loud, new Array<number>(500).fill(1_000)).flat().length).toBe(500);
  });
});
