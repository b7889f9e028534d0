import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HEARING_WINDOW } from '../../../../media/hearing.ts';
import { createEngineFiles } from '../../../../src/engines/threads/engine-files.ts';
import { readOnnxWeights } from '../../../../src/engines/vad/onnx-weights.ts';
import { createSilero, loadSilero } from '../../../../src/engines/vad/silero.ts';
import { noise } from '../../media/noise.ts';
import { tone } from '../../media/tone.ts';
import { recording } from '../asr/speech-scene.ts';

const silero = loadSilero(createEngineFiles().sileroWeights());

/** Windows of `librivox-0870`, and what another implementation made of them with these weights. */
const REFERENCE = [
  [0, 0.0467338],
  [1, 0.0306673],
  [5, 0.04425],
  [10, 0.3919276],
  [40, 0.9999417],
  [120, 0.9997528],
  [200, 0.9991194],
  [220, 0.0177466],
] as const;

function probabilities(pcm: Int16Array, stream = silero.open()): number[] {
  return Array.from({ length: Math.floor(pcm.length / HEARING_WINDOW) }, (_, i) =>
    stream.probability(pcm.subarray(i * HEARING_WINDOW, (i + 1) * HEARING_WINDOW)),
  );
}

const shareAbove = (values: number[], threshold: number) =>
  values.filter((value) => value > threshold).length / values.length;

describe('Silero', () => {
  it('Silero is sure of recorded human speech', () => {
    for (const name of ['librivox-0870', 'librivox-0890', 'cards-001']) {
      const values = probabilities(recording(name));
      expect(Math.max(...values), name).toBeGreaterThan(0.99);
      expect(shareAbove(values, 0.5), name).toBeGreaterThan(0.5);
    }
    expect(shareAbove(probabilities(recording('librivox-0870')), 0.5)).toBeGreaterThan(0.85);
  });

  it('Silero takes neither silence nor hiss nor a tone for speech', () => {
    const seconds = 5 * 16_000;
    expect(Math.max(...probabilities(new Int16Array(seconds)))).toBeLessThan(0.1);
    expect(shareAbove(probabilities(noise(seconds, 1_000)), 0.5)).toBeLessThan(0.03);
    expect(shareAbove(probabilities(tone(425, 16_000, seconds)), 0.5)).toBeLessThan(0.1);
  });

  it('Silero gives the same result for the same sound, and that of another implementation', () => {
    const values = probabilities(recording('librivox-0870'));
    expect(probabilities(recording('librivox-0870'))).toEqual(values);
    expect(values).toHaveLength(221);
    for (const [window, expected] of REFERENCE) {
      expect(values[window], `window ${window}`).toBeCloseTo(expected, 5);
    }
  });

  it('Silero keeps every listener apart, and starts each one afresh', () => {
    const speech = recording('librivox-0880');
    const alone = probabilities(speech);
    const first = silero.open();
    const other = silero.open();
    const mixed = alone.map((_, i) => {
      other.probability(noise(HEARING_WINDOW, 2_000, i));
      return first.probability(speech.subarray(i * HEARING_WINDOW, (i + 1) * HEARING_WINDOW));
    });
    expect(mixed).toEqual(alone);
    expect(probabilities(speech, first)).not.toEqual(alone);
    expect(probabilities(speech)).toEqual(alone);
  });

  it('Silero refuses a window of another length and weights of another model', () => {
    expect(() => silero.open().probability(new Int16Array(160))).toThrow(/512/);
    expect(() => createSilero(new Map())).toThrow(/lack model\./);
    expect(() => loadSilero('/nowhere/weights.onnx')).toThrow(/not installed/);
    const weights = readOnnxWeights(readFileSync(createEngineFiles().sileroWeights()));
    const name = 'model.encoder.0.reparam_conv.weight';
    const { data, dims } = weights.get(name) ?? { data: new Float32Array(), dims: [] };
    const wide = new Map(weights).set(name, { data, dims: [...dims.slice(0, 2), 5] });
    expect(() => createSilero(wide)).toThrow(/width 3/);
  });
});
