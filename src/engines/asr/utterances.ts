import { HEARING_HZ } from '../../../media/hearing.ts';
import { energy } from '../../../media/pcm.ts';
import type { TimedWord, Transcript } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { Decoder } from './decoder.ts';
import { createQuietBlock } from './quiet-block.ts';
import { createSilenceGate } from './silence-gate.ts';
import { createSteadyDecoder } from './steady-decoder.ts';
import type { HearingState } from './stt-contract.ts';
import { createWordPlaces } from './word-places.ts';

/** Decodes the utterances of one stream after another. */
export interface Utterances {
  /**
   * Begins a stream, or continues a stream from the state that it left in. Forgets the unfinished audio of earlier streams, and
   * replaces an old decoder.
   */
  begin(state?: HearingState): Promise<void>;
  push(pcm: Int16Array): Promise<readonly Transcript[]>;
  finish(): Promise<readonly Transcript[]>;
  /** Ends the stream's use of this decoder and returns its state. Audio without a final transcript is dropped. */
  leave(): HearingState;
  /** True when all audio has a final transcript. */
  readonly isBetween: boolean;
}

const { partialEveryMs, lifeSeconds: decoderLifeSeconds } = ENGINE_LIMITS.decoder;
const { softSeconds: utteranceSoftSeconds, hardSeconds: utteranceHardSeconds } =
  ENGINE_LIMITS.utterance;
const PARTIAL_SAMPLES = (partialEveryMs * HEARING_HZ) / 1_000;

/**
 * Creates the utterances of a worker. Returns a partial transcript every 200 ms of audio when it has changed, and a final
 * transcript at the end of an utterance. Speech without a pause is cut, because a decoder's memory and the audio kept for a
 * replay are bounded.
 */
export function createUtterances(deps: {
  readonly makeDecoder: () => Promise<Decoder>;
}): Utterances {
  const decoder = createSteadyDecoder(deps.makeDecoder);
  const quiet = createQuietBlock();
  const gate = createSilenceGate();
  const places = createWordPlaces();
  /** Samples of the utterance up to now, including the parts before a cut. */
  let saidSamples = 0;
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
    const { text, words } = await decoder.ask((current) => timed(current, current.end()), {
      text: lastPartial,
      words: undefined,
    });
    forget();
    return [{ text, isFinal: true, ...placed(words) }];
  }

  const placed = (words: readonly TimedWord[] | undefined) =>
    words === undefined ? {} : { words: places.place(words) };

  /** Hears blocks, which follow each other without a gap and end with the newest audio. */
  async function hear(blocks: readonly Int16Array[]): Promise<void> {
    let at = blocks.reduce((from, block) => from - block.length, saidSamples);
    for (const block of blocks) {
      places.note(decoder.heardSamples, at);
      await decoder.hear(block);
      at += block.length;
    }
  }

  async function partial(): Promise<readonly Transcript[]> {
    // After a trap in which the utterance was given up, the decoder counts its samples from 0 again.
    partialAt = Math.min(partialAt, decoder.heardSamples + PARTIAL_SAMPLES);
    if (decoder.heardSamples < partialAt) return [];
    partialAt = decoder.heardSamples + PARTIAL_SAMPLES;
    const { text, words } = await decoder.ask((current) => timed(current, current.hypothesis()), {
      text: '',
      words: undefined,
    });
    if (text === lastPartial || text === '') return [];
    lastPartial = text;
    return [{ text, isFinal: false, ...placed(words) }];
  }

  return {
    async begin(state) {
      await finish();
      forget();
      saidSamples = state?.saidSamples ?? 0;
      gate.useFloor(state?.noiseFloor);
      decoder.renewAfter(decoderLifeSeconds);
      decoder.adapt(state?.adaptation);
      await decoder.ready();
    },
    async push(pcm) {
      if (pcm.length === 0) return [];
      const loudness = energy(pcm);
      const pause = quiet.isQuiet(pcm, loudness);
      saidSamples += pcm.length;
      await hear(gate.pass(pcm, loudness));
      const seconds = decoder.heardSamples / HEARING_HZ;
      const tooLong = pause ? utteranceSoftSeconds : utteranceHardSeconds;
      return seconds >= tooLong ? finish() : partial();
    },
    async finish() {
      const last = await finish();
      saidSamples = 0;
      return last;
    },
    leave: () => ({ adaptation: decoder.adaptation, noiseFloor: gate.floor, saidSamples }),
    get isBetween() {
      return decoder.heardSamples === 0;
    },
  };
}

/** Returns the text, with timed words when the decoder's words match the text. */
function timed(decoder: Decoder, text: string) {
  const words = decoder.words?.();
  const isOfText = words?.map(({ word }) => word).join(' ') === text;
  return { text, words: isOfText ? words : undefined };
}
