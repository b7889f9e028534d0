import type { StopSignal } from '../../kernel/stop-signal.ts';
import { EngineInputRefused, type SpeechChunk, type TtsEngine } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { createFairQueue, type FairQueue } from '../threads/fair-queue.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import { cutSpoken } from './cut-spoken.ts';
import type { FliteContract } from './flite-worker.ts';
import { splitSpeech } from './split-speech.ts';

export type FliteDeps = {
  readonly client: WorkerClient<FliteContract>;
  /** Throws EngineMissing when the engine's package was pruned. */
  readonly requirePresent: () => void;
  /** Queue in which agents wait for the voice. */
  readonly line?: FairQueue;
};

/** Voices of Flite. The first voice replaces every voice name that is not in the list. */
const FLITE_VOICES = ['rms', 'slt', 'awb', 'kal'] as const;

const {
  textChars: speechTextChars,
  chunkChars: speechChunkChars,
  firstChunkChars: speechFirstChunkChars,
  speed: speechSpeed,
} = ENGINE_LIMITS.speech;
const MOST_SPOKEN = ENGINE_LIMITS.speech.chunkSpokenChars;

/** Replacements for characters that Flite reads aloud badly or not at all. */
const PLAIN: Readonly<Record<string, string>> = {
  '’': "'",
  '‘': "'",
  '“': '"',
  '”': '"',
  '…': '...',
  '–': ', ',
  '—': ', ',
};

/** Amplitude below which samples count as silence: Flite begins with faint noise. */
const SILENT = 200;
/** Milliseconds of silence that stay before the first sound, so that its onset is whole. */
const LEAD_MS = 40;

/** Returns the audio without its leading silence, except for `LEAD_MS` of it. */
function withoutLead(pcm: Int16Array, sampleRateHz: number): Int16Array {
  const first = pcm.findIndex((sample) => Math.abs(sample) > SILENT);
  const from = first - Math.round((sampleRateHz * LEAD_MS) / 1_000);
  return from > 0 ? pcm.subarray(from) : pcm;
}

/** Returns a text in ASCII, because Flite reads nothing else: accents are dropped, and other characters become spaces. */
function speakable(text: string): string {
  return text
    .replace(/[’‘“”…–—]/g, (mark) => PLAIN[mark] ?? ' ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Creates an engine that speaks sentence by sentence. The next sentence is made while one is being heard, and no further, so a
 * slow listener holds no audio back here. An abort takes effect between sentences.
 */
export function createFlite({
  client,
  requirePresent,
  line = createFairQueue(ENGINE_LIMITS.speech.queue),
}: FliteDeps): TtsEngine {
  return {
    async *speak({ text, voice, speed = 1, signal, agentId }) {
      requirePresent();
      if (text.length > speechTextChars) {
        throw new EngineInputRefused(`A text to speak has at most ${speechTextChars} characters.`);
      }
      const known = FLITE_VOICES.find((name) => name === voice) ?? FLITE_VOICES[0];
      const stretch = 1 / Math.max(speechSpeed.min, Math.min(speechSpeed.max, speed));
      const make = (chunk: string) =>
        line
          .run(agentId, () =>
            client.call('speak', { text: speakable(chunk), voice: known, stretch }),
          )
          .then((sound): SpeechChunk => ({ ...sound, text: chunk }));

      const chunks = splitSpeech(text, {
        firstChars: speechFirstChunkChars,
        chars: speechChunkChars,
      })
        .flatMap((chunk) => cutSpoken(chunk, MOST_SPOKEN))
        .filter((chunk) => /[a-zA-Z0-9]/.test(speakable(chunk)));
      let next = first(chunks, signal, make);
      for (let i = 1; next !== undefined; i++) {
        const sound = await next;
        if (signal.aborted) return;
        const following = chunks[i];
        next = following === undefined ? undefined : make(following);
        // A caller that stops listening never requests this sentence, so its failure is dropped.
        next?.catch(() => {});
        // Silence before the first words would delay the answer, so it is cut. Before later words it is a pause.
        yield i === 1 ? { ...sound, pcm: withoutLead(sound.pcm, sound.sampleRateHz) } : sound;
        if (signal.aborted) return;
      }
    },
  };
}

function first<T>(
  chunks: readonly string[],
  signal: StopSignal,
  make: (chunk: string) => T,
): T | undefined {
  const chunk = chunks[0];
  return chunk === undefined || signal.aborted ? undefined : make(chunk);
}
