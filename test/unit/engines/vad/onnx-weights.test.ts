import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEngineFiles } from '../../../../src/engines/threads/engine-files.ts';
import { readOnnxWeights } from '../../../../src/engines/vad/onnx-weights.ts';

/** A length-delimited protobuf field. */
const field = (id: number, bytes: readonly number[]) => [id * 8 + 2, bytes.length, ...bytes];
const FLOAT_1_5 = [0, 0, 0xc0, 0x3f];

const tensor = (name: string, dims: readonly number[], data: readonly number[], type = 1) => [
  ...dims.flatMap((size) => [1 * 8, size]),
  2 * 8,
  type,
  ...field(8, [...Buffer.from(name)]),
  ...field(9, data),
];

const model = (...tensors: number[][]) =>
  Uint8Array.from([
    8,
    7,
    ...field(
      7,
      tensors.flatMap((one) => field(5, one)),
    ),
  ]);

describe('the weights reader', () => {
  it('the weights reader finds the tensors of the published model with their shapes', () => {
    const weights = readOnnxWeights(readFileSync(createEngineFiles().sileroWeights()));
    expect(weights.get('model.stft.forward_basis_buffer')?.dims).toEqual([258, 1, 256]);
    expect(weights.get('model.decoder.rnn.weight_ih')?.dims).toEqual([512, 128]);
    expect(weights.get('model.decoder.rnn.weight_ih')?.data).toHaveLength(512 * 128);
  });

  it('the weights reader reads float tensors by name and skips others', () => {
    const weights = readOnnxWeights(
      model(tensor('w', [2, 1], [...FLOAT_1_5, ...FLOAT_1_5]), tensor('n', [1], [0, 0, 0, 0], 7)),
    );
    expect([...weights.keys()]).toEqual(['w']);
    expect(weights.get('w')).toEqual({ dims: [2, 1], data: Float32Array.of(1.5, 1.5) });
  });

  it('the weights reader refuses a tensor that does not fit its dimensions, and a file that is cut', () => {
    expect(() => readOnnxWeights(model(tensor('w', [3], FLOAT_1_5)))).toThrow(/tensor w/);
    const whole = model(tensor('w', [1], FLOAT_1_5));
    expect(() => readOnnxWeights(whole.subarray(0, whole.length - 2))).toThrow(/damaged/);
    expect(() => readOnnxWeights(new Uint8Array(40).fill(0xff))).toThrow(/damaged/);
  });

  it('the weights reader ends on any bytes at all, with tensors or with an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          readOnnxWeights(bytes);
        } catch (error) {
          expect(String(error)).toMatch(/^Error: onnx: /);
        }
      }),
    );
  });
});
