import { HEARING_HZ } from '../../media/hearing.ts';
import { energy } from '../../media/pcm.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Decoder } from './decoder.ts';
import type { Transcript } from './engine.ts';
import { createQuietBlock } from './quiet-block.ts';
import { createSilenceGate } from './silence-gate.ts';
import { createSteadyDecoder } from './steady-decoder.ts';

/** The utterances of one stream after another. */
export interface Utterances {
  /** Begins a stream: forgets what an earlier one left unfinished, and an old decoder with it. */
  begin(): Promise<void>;
  push(pcm: Int16Array): Promise<readonly Transcript[]>;
  finish(): Promise<readonly Transcript[]>;
}

const { partialEveryMs, utteranceSoftSeconds, utteranceHardSeconds, decoderLifeSeconds } =
  LIMITS.engines;
const PARTIAL_SAMPLES = (partialEveryMs * HEARING_HZ) / 1_000;

/**
 * Gives a partial transcript every 200 ms of sound when it has changed, and a final one at the end of
 * an utterance. Speech that does not pause is cut: a decoder's memory is bounded, and so is what is
 * kept to replay.
 */
export function createUtterances(deps: {
  readonly makeDecoder: () => Promise<Decoder>;
}): Utterances {
  const decoder = createSteadyDecoder(deps.makeDecoder);
  const quiet = createQuietBlock();
  const gate = createSilenceGate();
  let partialAt = PARTIAL_SAMPLES;
  let lastPartial = '';

  function forget() {
    decoder.forget();
    partialAt = PARTIAL_SAMPLES;
    lastPartial = '';
    quiet.reset();
    gate.reset();
  }

  async function finish(): Promise<readonly Transcript[]> {
    if (decoder.heardSamples === 0) return [];
    const text = await decoder.ask((current) => current.end(), lastPartial);
    forget();
    return [{ text, isFinal: true }];
  }

  async function partial(): Promise<readonly Transcript[]> {
    // An utterance that was given up begins anew.
    partialAt = Math.min(partialAt, decoder.heardSamples + PARTIAL_SAMPLES);
    if (decoder.heardSamples < partialAt) return [];
    partialAt = decoder.heardSamples + PARTIAL_SAMPLES;
    const text = await decoder.ask((current) => current.hypothesis(), '');
    if (text === lastPartial || text === '') return [];
    lastPartial = text;
    return [{ text, isFinal: false }];
  }

  return {
    async begin() {
      await finish();
      forget();
      decoder.renewAfter(decoderLifeSeconds);
      await decoder.ready();
    },
    async push(pcm) {
      if (pcm.length === 0) return [];
      const loudness = energy(pcm);
      const pause = quiet.isQuiet(pcm, loudness);
      for (const block of gate.pass(pcm, loudness)) await decoder.hear(block);
      const seconds = decoder.heardSamples / HEARING_HZ;
      const tooLong = pause ? utteranceSoftSeconds : utteranceHardSeconds;
      return seconds >= tooLong ? finish() : partial();
    },
    finish,
  };
}
