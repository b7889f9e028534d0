/**
 * The three kinds of layer of the voice activity model, over Float64 arrays: a double is what the
 * machine adds anyway, and every weight is read once for all time frames.
 */
import type { Tensor } from './onnx-weights.ts';

/** Time frames that one window yields; the spectrum's loop is written out for them. */
export const FRAMES = 4;
const KERNEL = 3;

export type Convolution = {
  readonly outChannels: number;
  readonly inChannels: number;
  readonly stride: number;
  readonly weight: Float64Array;
  readonly bias: Float64Array;
};

/** A width-3 convolution over time, padded by one frame on each side. */
export function packConvolution(layer: {
  readonly weight: Tensor;
  readonly bias: Tensor;
  readonly stride: number;
}): Convolution {
  const [outChannels = 0, inChannels = 0, width] = layer.weight.dims;
  if (width !== KERNEL) throw new Error('silero: a convolution is not of width 3');
  return {
    outChannels,
    inChannels,
    stride: layer.stride,
    weight: Float64Array.from(layer.weight.data),
    bias: Float64Array.from(layer.bias.data),
  };
}

/** The magnitude of each frequency, a channel each, in four overlapping frames. */
export function spectrum(of: {
  readonly basis: Float64Array;
  readonly signal: Float64Array;
  readonly target: Activations;
  readonly fft: number;
  readonly hop: number;
}): void {
  const { basis, signal, fft, hop } = of;
  const target = of.target.values;
  const bins = basis.length / (2 * fft);
  for (let bin = 0; bin < bins; bin++) {
    const cosines = bin * fft;
    const sines = (bin + bins) * fft;
    let r0 = 0;
    let r1 = 0;
    let r2 = 0;
    let r3 = 0;
    let i0 = 0;
    let i1 = 0;
    let i2 = 0;
    let i3 = 0;
    for (let n = 0; n < fft; n++) {
      const c = basis[cosines + n] as number;
      const s = basis[sines + n] as number;
      const x0 = signal[n] as number;
      const x1 = signal[n + hop] as number;
      const x2 = signal[n + 2 * hop] as number;
      const x3 = signal[n + 3 * hop] as number;
      r0 += c * x0;
      r1 += c * x1;
      r2 += c * x2;
      r3 += c * x3;
      i0 += s * x0;
      i1 += s * x1;
      i2 += s * x2;
      i3 += s * x3;
    }
    const at = bin * (FRAMES + 2) + 1;
    target[at] = Math.sqrt(r0 * r0 + i0 * i0);
    target[at + 1] = Math.sqrt(r1 * r1 + i1 * i1);
    target[at + 2] = Math.sqrt(r2 * r2 + i2 * i2);
    target[at + 3] = Math.sqrt(r3 * r3 + i3 * i3);
  }
}

/** Frames over time, channel by channel, with a silent frame before and after each channel's own. */
export type Activations = { readonly frames: number; readonly values: Float64Array };

/** Room for `channels` of `frames`, padded. */
export function createActivations(channels: number, frames: number): Activations {
  return { frames, values: new Float64Array(channels * (frames + 2)) };
}

/** Convolves over time, then cuts off what is negative. Nothing is written into the padding. */
export function convolve(layer: Convolution, input: Activations, output: Activations): void {
  const { outChannels, inChannels, stride, weight, bias } = layer;
  const inStep = input.frames + 2;
  const outStep = output.frames + 2;
  const x = input.values;
  for (let out = 0; out < outChannels; out++) {
    const row = out * inChannels * KERNEL;
    for (let frame = 0; frame < output.frames; frame++) {
      let s0 = bias[out] as number;
      let s1 = 0;
      let s2 = 0;
      let w = row;
      let at = frame * stride;
      for (let channel = 0; channel < inChannels; channel++) {
        s0 += (weight[w] as number) * (x[at] as number);
        s1 += (weight[w + 1] as number) * (x[at + 1] as number);
        s2 += (weight[w + 2] as number) * (x[at + 2] as number);
        w += KERNEL;
        at += inStep;
      }
      output.values[out * outStep + 1 + frame] = Math.max(0, s0 + s1 + s2);
    }
  }
}

/** Steps one cell in place: `hidden` and `carry` become the next state. Gates: in, forget, cell, out. */
export function createLstmCell(
  weights: {
    readonly input: Float32Array;
    readonly hidden: Float32Array;
    readonly inputBias: Float32Array;
    readonly hiddenBias: Float32Array;
  },
  size: number,
): (input: Activations, hidden: Float64Array, carry: Float64Array) => void {
  const fromInput = Float64Array.from(weights.input);
  const fromHidden = Float64Array.from(weights.hidden);
  const bias = Float64Array.from(
    weights.inputBias,
    (b, i) => b + (weights.hiddenBias[i] as number),
  );
  const gates = new Float64Array(4 * size);

  return (input, hidden, carry) => {
    // The cell's input is one frame a channel, which stands between its two padding frames.
    const x = input.values;
    for (let gate = 0; gate < gates.length; gate++) {
      const row = gate * size;
      let s0 = bias[gate] as number;
      let s1 = 0;
      for (let i = 0; i < size; i++) {
        s0 += (fromInput[row + i] as number) * (x[3 * i + 1] as number);
        s1 += (fromHidden[row + i] as number) * (hidden[i] as number);
      }
      gates[gate] = s0 + s1;
    }
    for (let i = 0; i < size; i++) {
      const enter = sigmoid(gates[i] as number);
      const keep = sigmoid(gates[size + i] as number);
      const fresh = Math.tanh(gates[2 * size + i] as number);
      const show = sigmoid(gates[3 * size + i] as number);
      const next = keep * (carry[i] as number) + enter * fresh;
      carry[i] = next;
      hidden[i] = show * Math.tanh(next);
    }
  };
}

/** 1 / (1 + e^-x) */
export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
