import { ok, route } from '../../../../http/route/route.ts';
import type { VoiceSettingsService } from '../../../../phone/voice/voice-settings.ts';
import { AgentParams } from '../agent-shape.ts';
import { VoiceBody, VoiceRecord } from './voice-shape.ts';

/** Changes an agent's voice settings, from its next call on. */
export const changeVoice = route<{ voiceSettings: VoiceSettingsService }>()({
  method: 'PATCH',
  path: '/v1/developer/agents/:agentId/voice',
  credential: 'management',
  summary: "Change an agent's voice settings",
  params: AgentParams,
  body: VoiceBody,
  response: VoiceRecord,

  async handle({ body, caller, params, services }) {
    const agent = { accountId: caller.accountId, agentId: params.agentId };
    return ok(await services.voiceSettings.change(agent, body));
  },
});
