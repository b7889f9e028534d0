import { HEARING_HZ } from '../../../media/hearing.ts';
import { Resampler } from '../../../media/resample.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { EngineCrashed, type SttListener, type SttStream, type Transcript } from '../engine.ts';
import type { DecoderClient } from './decoder-pool.ts';
import { createSoundPosts } from './sound-posts.ts';

export type SttStreamDeps = {
  readonly client: DecoderClient;
  readonly sampleRateHz: number;
  readonly listener: SttListener;
  /** Called once, with how many samples the decoder has not yet heard. */
  readonly released: (undecodedSamples: number) => void;
};

const POST_SAMPLES = (LIMITS.engines.decoderPostMs * HEARING_HZ) / 1_000;
const MAX_BEHIND_SAMPLES = LIMITS.engines.decoderBehindSeconds * HEARING_HZ;

/**
 * One caller's sound on its way to a decoder. It is gathered into posts of 100 ms, so that a carrier
 * frame costs the media loop a resampling and a copy. The listener gets a failure once; after
 * it, and after `close`, everything is ignored and `endUtterance` resolves at once.
 */
export function openSttStream(deps: SttStreamDeps): SttStream {
  const { client, listener } = deps;
  const resampler = new Resampler(deps.sampleRateHz, HEARING_HZ);
  const posts = createSoundPosts(POST_SAMPLES, post);
  let undecoded = 0;
  let open = true;
  let scratch = new Int16Array(0);

  function close() {
    if (!open) return;
    open = false;
    deps.released(undecoded);
  }

  function fail(error: unknown) {
    if (!open) return;
    close();
    listener.failed(error instanceof Error ? error : new Error(String(error)));
  }

  function deliver(transcripts: readonly Transcript[]) {
    for (const transcript of transcripts) if (open) listener.transcript(transcript);
  }

  function post(pcm: Int16Array) {
    if (!open) return;
    const samples = pcm.length;
    undecoded += samples;
    if (undecoded > MAX_BEHIND_SAMPLES) {
      const { decoderBehindSeconds } = LIMITS.engines;
      return fail(
        new EngineCrashed(`the recogniser is more than ${decoderBehindSeconds} s behind the audio`),
      );
    }
    client.call('push', pcm, [pcm.buffer as ArrayBuffer]).then((transcripts) => {
      undecoded -= samples;
      deliver(transcripts);
    }, fail);
  }

  function room(samples: number): Int16Array {
    if (scratch.length < samples) scratch = new Int16Array(samples);
    return scratch;
  }

  return {
    push(pcm) {
      if (!open) return;
      if (deps.sampleRateHz === HEARING_HZ) return posts.push(pcm);
      const target = room(resampler.outputSamples(pcm.length));
      posts.push(target.subarray(0, resampler.push(pcm, target)));
    },
    async endUtterance() {
      if (!open) return;
      const target = room(resampler.outputSamples(resampler.lookaheadSamples));
      posts.push(target.subarray(0, resampler.flush(target)));
      posts.flush();
      if (!open) return;
      try {
        deliver(await client.call('finish', null));
      } catch (error) {
        fail(error);
      }
    },
    close,
  };
}
