import { requireAgent } from '../../accounts/agents/require-agent.ts';
import { errors } from '../../kernel/errors.ts';
import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { readVoicePatch, type WantedVoice } from './voice-patch.ts';
import {
  findVoiceSettings,
  lockVoiceSettings,
  saveVoiceSettings,
  type VoiceSettings,
} from './voice-settings-store.ts';
import { requireWebhookUrl, type WebhookUrlDeps } from './webhook-url.ts';

/** The model of a hosted voice for which none was set. */
export const DEFAULT_VOICE_MODEL = 'openai/gpt-5.4-mini';

const DEFAULTS: VoiceSettings = {
  voiceMode: 'hosted',
  systemPrompt: null,
  beginMessage: null,
  voice: null,
  model: null,
  webhookUrl: null,
  recordCalls: false,
  reportCalls: false,
};

export type VoiceSettingsDeps = WebhookUrlDeps & {
  readonly sql: Sql;
  readonly catalogue: Pick<Catalogue, 'find' | 'findKeyed' | 'suggest'>;
  /** No carrier is configured: every call is refused with 503. */
  readonly isOff: boolean;
};

type AgentRef = { readonly accountId: string; readonly agentId: number };

export type VoiceSettingsService = ReturnType<typeof createVoiceSettings>;

/** How agents talk on the phone. A change reaches the calls that are set up after it. */
export function createVoiceSettings(deps: VoiceSettingsDeps) {
  const { sql, catalogue, isOff } = deps;

  async function requireOwn(ref: AgentRef) {
    if (isOff) throw errors.phone.telephonyUnavailable();
    return requireAgent(sql, ref);
  }

  return {
    async read(ref: AgentRef) {
      await requireOwn(ref);
      return voiceRecord((await findVoiceSettings(sql, ref.agentId)) ?? DEFAULTS);
    },

    /** The settings of a call that is set up now. */
    ofCall: async (agentId: number): Promise<VoiceSettings> =>
      (await findVoiceSettings(sql, agentId)) ?? DEFAULTS,

    /** Changes what is named and leaves the rest; all of it or nothing. */
    async change(ref: AgentRef, wanted: WantedVoice) {
      const agent = await requireOwn(ref);
      if (agent.status === 'closed') throw errors.credential.accountClosed();
      const patch = { ...readVoicePatch(wanted) };
      if (patch.model) patch.model = requireChatModel(catalogue, patch.model);
      if (patch.webhookUrl) patch.webhookUrl = await requireWebhookUrl(deps, patch.webhookUrl);
      const saved = await sql.begin(async (tx) => {
        const next = { ...(await lockVoiceSettings(tx, ref.agentId)), ...patch };
        if (next.voiceMode === 'webhook' && next.webhookUrl === null) {
          throw errors.phone.webhookUrlRequired();
        }
        await saveVoiceSettings(tx, ref.agentId, next);
        return next;
      });
      return voiceRecord(saved);
    },
  };
}

/** The id of a chat model that this server sells, or that the caller's own provider keys may open. */
function requireChatModel(catalogue: VoiceSettingsDeps['catalogue'], name: string): string {
  const model = catalogue.find(name) ?? catalogue.findKeyed(name);
  if (model?.modality === 'text') return model.id;
  throw errors.phone.invalidModel(name, catalogue.suggest(name));
}

/** The settings as every route shows them: nested, and once more flat, as they are sent. */
function voiceRecord(settings: VoiceSettings) {
  const { voiceMode, systemPrompt, beginMessage, voice, webhookUrl } = settings;
  const { recordCalls, reportCalls } = settings;
  const voiceConfig = {
    ...(systemPrompt !== null && { systemPrompt }),
    ...(beginMessage !== null && { beginMessage }),
    ...(voice !== null && { voice }),
    model: settings.model ?? DEFAULT_VOICE_MODEL,
    ...(webhookUrl !== null && { webhookUrl }),
    recordCalls,
    reportCalls,
  };
  return { voiceMode, voiceConfig, ...voiceConfig };
}
