import { createBudgetReports } from '../controls/budget-left.ts';
import { readTeamCounters } from '../controls/counter-store.ts';
import { createTeamReadings } from '../controls/team-readings.ts';
import { createEmbeddings } from '../gateway/buy-embeddings.ts';
import { createChatRails } from '../gateway/chat-rails.ts';
import { createChatCompletions } from '../gateway/complete-chat.ts';
import { createEmbeddingRails } from '../gateway/embedding-rails.ts';
import { createSpeechRails } from '../gateway/speech-rails.ts';
import { createSpeechSynthesis } from '../gateway/synthesize-speech.ts';
import { createTranscriptions } from '../gateway/transcribe.ts';
import { createTranscriptionRails } from '../gateway/transcription-rails.ts';
import type { Teardown } from '../kernel/teardown.ts';
import { createLocalEmbeddingRail } from '../rails/local-embedding.ts';
import { createLocalGuideRail } from '../rails/local-guide.ts';
import { createLocalSpeechRail } from '../rails/local-speech.ts';
import { createLocalTranscriptionRail } from '../rails/local-transcription.ts';
import { createSourceRests } from '../rails/rest-failing-source.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { VoiceParts } from './build-voice.ts';
import type { World } from './world.ts';

/** The gateway: its rails, and the rest that a failing source is given. */
export function buildGateway(
  world: World,
  { ledger, time }: LedgerParts,
  voice: VoiceParts,
  teardown: Teardown,
) {
  const { catalogue, clock, settings, sql } = world;
  const { callerFacts, engines } = voice;
  const localGuide = createLocalGuideRail({ ...world, guide: engines.guide, callerFacts });
  const rails = teardown.use('rails', createChatRails({ catalogue, localGuide, clock }));
  const local = createLocalEmbeddingRail({ engine: engines.embedding.useLite });
  const vectors = createEmbeddingRails({ catalogue, local, clock });
  teardown.use('embedding rails', vectors);
  const localSpeech = createLocalSpeechRail({ engine: engines.tts.flite });
  const speechRails = createSpeechRails({ catalogue, localSpeech, clock });
  teardown.use('speech rails', speechRails);
  const ears = createLocalTranscriptionRail({ engines, gates: voice.speechGates });
  const hearing = createTranscriptionRails({ ...world, local: ears });
  teardown.use('transcription rails', hearing);
  const rests = createSourceRests({ clock });
  const team = createTeamReadings({ ...world, read: (ids) => readTeamCounters(sql, ids) });
  const budgets = createBudgetReports({
    ...{ team, now: time.now },
    advisory: settings.budgetAdvisory,
  });
  return {
    budgets,
    services: {
      catalogue,
      embeddings: createEmbeddings({ ...world, rails: vectors, rests, ledger, budgets }),
      transcriptions: createTranscriptions({ ...world, rails: hearing, rests, ledger, budgets }),
      chat: createChatCompletions({ ...world, rails, rests, ledger, budgets }),
      speech: createSpeechSynthesis({ ...world, rails: speechRails, rests, ledger, budgets }),
    },
  };
}
