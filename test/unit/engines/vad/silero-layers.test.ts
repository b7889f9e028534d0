import { describe, expect, it } from 'vitest';
import {
  convolve,
  createActivations,
  createLstmCell,
  packConvolution,
  sigmoid,
  spectrum,
} from '../../../../src/engines/vad/silero-layers.ts';

const tensor = (dims: number[], data: number[]) => ({ dims, data: Float32Array.from(data) });

describe('the layers of the model', () => {
  it('convolve over time with silence at both ends, skip by the stride, and cut off below zero', () => {
    const input = createActivations(2, 4);
    input.values.set([1, 2, 3, 4], 1);
    input.values.set([10, 20, 30, 40], 7);
    const layer = (stride: number) =>
      packConvolution({
        weight: tensor([2, 2, 3], [1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0]),
        bias: tensor([2], [0.5, 2.5]),
        stride,
      });
    const all = createActivations(2, 4);
    convolve(layer(1), input, all);
    // First output: the frame before of channel 1 and the frame after of channel 2.
    expect([...all.values]).toEqual([0, 20.5, 31.5, 42.5, 3.5, 0, 0, 1.5, 0.5, 0, 0, 0]);

    const half = createActivations(2, 2);
    convolve(layer(2), input, half);
    expect([...half.values]).toEqual([0, 20.5, 42.5, 0, 0, 1.5, 0, 0]);
    const wide = { weight: tensor([1, 1, 5], [1, 2, 3, 4, 5]), bias: tensor([1], [0]), stride: 1 };
    expect(() => packConvolution(wide)).toThrow(/width 3/);
  });

  it('take the magnitude of each frequency in four frames that overlap', () => {
    // Two bins over two samples: the sum, and the first sample as real with the second as imaginary.
    const basis = Float64Array.of(1, 1, 1, 0, 0, 0, 0, 1);
    const signal = Float64Array.of(3, 4, 0, 0, 1, 1, 6, 8);
    const target = createActivations(2, 4);
    spectrum({ basis, signal, target, fft: 2, hop: 2 });
    expect([...target.values]).toEqual([0, 7, 0, 2, 14, 0, 0, 5, 0, Math.sqrt(2), 10, 0]);
  });

  it('step a memory cell by its four gates, in place', () => {
    const size = 1;
    // Input, forget, cell and output gate of one unit.
    const step = createLstmCell(
      {
        input: Float32Array.of(1, 0, 0.5, 0),
        hidden: Float32Array.of(0, 2, 0, 1),
        inputBias: Float32Array.of(0, 0.25, 0, 0),
        hiddenBias: Float32Array.of(0, 0.25, 0, 0.5),
      },
      size,
    );
    const input = createActivations(1, 1);
    input.values[1] = 2;
    const hidden = Float64Array.of(0.5);
    const carry = Float64Array.of(-0.75);
    step(input, hidden, carry);
    const expectedCarry = sigmoid(1.5) * -0.75 + sigmoid(2) * Math.tanh(1);
    expect(carry[0]).toBeCloseTo(expectedCarry, 12);
    expect(hidden[0]).toBeCloseTo(sigmoid(1) * Math.tanh(expectedCarry), 12);
  });
});
