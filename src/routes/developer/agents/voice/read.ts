import { hasRight } from '../../../../accounts/developers/role.ts';
import { ok, route } from '../../../../http/route/route.ts';
import type { VoiceSettingsService } from '../../../../phone/voice/voice-settings.ts';
import { AgentParams } from '../agent-shape.ts';
import { VoiceRecord } from './voice-shape.ts';

/** Reads the settings of an agent for the phone. */
export const readVoice = route<{ voiceSettings: VoiceSettingsService }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/voice',
  credential: 'management',
  summary: "An agent's voice settings",
  params: AgentParams,
  response: VoiceRecord,

  async handle({ caller, params, services }) {
    const { accountId, permission, role } = caller;
    const showsSecret = permission === 'read_write' && hasRight(role, 'work');
    const agent = { accountId, agentId: params.agentId };
    return ok(await services.voiceSettings.read(agent, showsSecret));
  },
});
