import { expect, test } from 'vitest';

import { assert } from '../../../../src/kernel/assert.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import {
  memberProblem,
  readSession,
} from '../../../../src/protocols/openai-realtime/read-session-config.ts';
import { openCascade } from '../../../../src/voice/cascade/open-cascade.ts';
import { planCascade } from '../../../../src/voice/cascade/plan-cascade.ts';
import { ConfigUnfit } from '../../../../src/voice/session/session-config.ts';
import { NO_KEYS } from '../../../support/cascade-world.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { NO_OWN_KEYS } from '../../../support/own-keys.ts';
import { AGENT, createVoiceWorld } from '../../../support/voice-world.ts';

test('a session with an unknown transcription model is refused with the path of the member, and nothing is held', async () => {
  const clock = new ManualClock();
  const { deps, ledger } = await createVoiceWorld({ clock, creditRaw: 10_000_000n });
  const rails = { railOf: () => ({ makes: () => true }) as never };
  const breaker = createSourceRests({ clock });
  const cascades = { chat: rails, speech: rails, hearing: rails, breaker, providerKeys: NO_KEYS };
  const plan = planCascade(deps.catalogue, 'local/guide', {});
  const transcription = { model: 'acme/deaf' };
  const read = readSession({ audio: { input: { transcription } } });
  assert(plan !== undefined && 'config' in read, 'it is a session of several models');
  const { config } = read;
  const opening = { spender: { agentId: AGENT }, ownKeys: NO_OWN_KEYS, config };
  const opened = openCascade({ ...deps, cascades }, plan, opening);
  const refusal = await opened.catch((error: unknown) => error);
  assert(refusal instanceof ConfigUnfit, 'it is refused for its settings');
  expect(memberProblem(refusal.problem)).toEqual({
    param: 'session.audio.input.transcription.model',
    message: 'session.audio.input.transcription.model: there is no stt model "acme/deaf".',
  });
  expect(ledger.openHolds()).toBe(0);
});
