import type { VoiceDeps } from '../actors/voice-deps.ts';
import { createChatRails } from '../gateway/chat-rails.ts';
import { createChatCompletions } from '../gateway/complete-chat.ts';
import type { Teardown } from '../kernel/teardown.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createLocalGuideRail } from '../rails/local-guide.ts';
import { createSourceRests } from '../rails/rest-failing-source.ts';
import type { World } from './world.ts';

/** The gateway: its rails, and the rest that a failing source is given. */
export function buildGateway(world: World, ledger: Ledger, voice: VoiceDeps, teardown: Teardown) {
  const { catalogue, clock } = world;
  const { callerFacts, engines } = voice;
  const localGuide = createLocalGuideRail({ ...world, guide: engines.guide, callerFacts });
  const rails = teardown.use('rails', createChatRails({ catalogue, localGuide, clock }));
  const rests = createSourceRests({ clock });
  return {
    catalogue,
    chat: createChatCompletions({ ...world, rails, rests, ledger }),
  };
}
