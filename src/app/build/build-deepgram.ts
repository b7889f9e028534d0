import { createFileFetch, fileCallerOf } from '../../marketplace/fetch-file.ts';
import { createSoundFetch } from '../../marketplace/fetch-sound.ts';
import type { SpeechSynthesis } from '../../models/speech/synthesize-speech.ts';
import type { Transcriptions } from '../../models/transcription/transcribe.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import { createListenFiles } from '../../protocols/deepgram/listen/listen-file.ts';
import { createSoundAtAddress } from '../../protocols/deepgram/listen/sound-at-address.ts';
import { createSpeakTexts } from '../../protocols/deepgram/speak/speak-texts.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import type { World } from './world.ts';

type DeepgramParts = {
  readonly speech: SpeechSynthesis;
  readonly transcriptions: Transcriptions;
  readonly spendState: SpendStateReader;
  /** Sends requests to addresses that callers choose. */
  readonly client: GuardedClient;
};

/**
 * Builds the parts that the routes of Deepgram's protocol need: transcription of files, speech of texts, and files at
 * addresses.
 */
export function buildDeepgram(world: World, parts: DeepgramParts) {
  const { catalogue, clock } = world;
  const { client, speech, spendState, transcriptions } = parts;
  return {
    listenFiles: createListenFiles({ transcriptions, catalogue, clock }),
    speakTexts: createSpeakTexts({ speech, catalogue }),
    soundAtAddress: createSoundAtAddress({
      fetchSound: createSoundFetch(createFileFetch({ client, clock })),
      fileCallerOf: (spender) => fileCallerOf(spendState, spender),
    }),
  };
}
