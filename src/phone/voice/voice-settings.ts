import { requireAgent } from '../../accounts/agents/require-agent.ts';
import { credentialErrors } from '../../accounts/errors.ts';
import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { requestSecret } from '../calls/opening/request-secret.ts';
import { phoneErrors } from '../errors.ts';
import { readTools } from '../tools/agent-tools.ts';
import { overrideVoice } from './conversation-settings.ts';
import { requireChatModel } from './require-chat-model.ts';
import { readSwitch, readVoicePatch, type WantedVoice } from './voice-patch.ts';
import {
  findVoiceSettings,
  lockVoiceSettings,
  saveVoiceSettings,
  type VoiceSettings,
} from './voice-settings-store.ts';
import { requireInboundUrl, requireWebhookUrl, type WebhookUrlDeps } from './webhook-url.ts';

/** Model of hosted voices whose settings name none. */
export const DEFAULT_VOICE_MODEL = 'openai/gpt-5.4-mini';

const DEFAULTS: VoiceSettings = {
  voiceMode: 'hosted',
  systemPrompt: null,
  beginMessage: null,
  voice: null,
  model: null,
  webhookUrl: null,
  inboundUrl: null,
  recordCalls: false,
  reportCalls: false,
  concurrentCalls: null,
  conversation: {},
  tools: [],
  secretVersion: 1,
};

export type VoiceSettingsDeps = WebhookUrlDeps & {
  readonly sql: Sql;
  readonly catalogue: Pick<Catalogue, 'find' | 'findKeyed' | 'suggest'>;
  /** True when no carrier is configured, so that every method throws 503. */
  readonly isOff: boolean;
  /** Secret from which the agents' secrets are derived. Undefined when no function can be called and no inbound URL set. */
  readonly sealingSecret: string | undefined;
};

type AgentRef = { readonly accountId: string; readonly agentId: number };

export type VoiceSettingsService = ReturnType<typeof createVoiceSettings>;

/** Creates the service that reads and changes voice settings of agents. A change applies to calls set up after it. */
export function createVoiceSettings(deps: VoiceSettingsDeps) {
  const { sql, catalogue, isOff } = deps;

  const secretOf = (agentId: number, { secretVersion: version }: VoiceSettings) =>
    deps.sealingSecret === undefined
      ? undefined
      : requestSecret(deps.sealingSecret, { agentId, version });

  /** Returns the settings of an agent, with the secret that signs the requests to its functions where there are any. */
  function recordOf(agentId: number, settings: VoiceSettings, showsSecret = true) {
    const isShown = showsSecret && settings.tools.some(({ type }) => type === 'function');
    return voiceRecord(settings, isShown ? secretOf(agentId, settings) : undefined);
  }

  async function requireOwn(ref: AgentRef) {
    if (isOff) throw phoneErrors.telephonyUnavailable();
    return requireAgent(sql, ref);
  }

  return {
    /** Returns the settings of an agent. `showsSecret` is false for a caller who may change nothing. */
    async read(ref: AgentRef, showsSecret: boolean) {
      await requireOwn(ref);
      const settings = (await findVoiceSettings(sql, ref.agentId)) ?? DEFAULTS;
      return recordOf(ref.agentId, settings, showsSecret);
    },

    /** Returns the present settings of an agent, for a call that is being set up. */
    ofCall: async (agentId: number): Promise<VoiceSettings> =>
      (await findVoiceSettings(sql, agentId)) ?? DEFAULTS,

    /** Changes the given settings, all or none, and leaves the others. */
    async change(ref: AgentRef, wanted: WantedVoice) {
      const agent = await requireOwn(ref);
      if (agent.status === 'closed') throw credentialErrors.accountClosed();
      const { overrides, settings } = readVoicePatch(wanted);
      const patch = { ...settings };
      const tools = wanted.tools === undefined ? undefined : await readTools(deps, wanted.tools);
      if (tools?.some(({ type }) => type === 'function') && deps.sealingSecret === undefined) {
        throw phoneErrors.invalidVoice('tools: this server calls no functions.');
      }
      const rotates = readSwitch('rotateToolSecret', wanted.rotateToolSecret);
      if (patch.model) patch.model = requireChatModel(catalogue, patch.model);
      if (patch.webhookUrl) patch.webhookUrl = await requireWebhookUrl(deps, patch.webhookUrl);
      if (patch.inboundUrl) {
        if (deps.sealingSecret === undefined) throw phoneErrors.inboundUnavailable();
        patch.inboundUrl = await requireInboundUrl(deps, patch.inboundUrl);
      }
      const saved = await sql.begin(async (tx) => {
        const before = await lockVoiceSettings(tx, ref.agentId);
        const secretVersion = before.secretVersion + (rotates ? 1 : 0);
        const toolsNow = tools ?? before.tools;
        const next = overrideVoice(
          { ...before, ...patch, tools: toolsNow, secretVersion },
          overrides,
        );
        if (next.voiceMode === 'webhook' && next.webhookUrl === null) {
          throw phoneErrors.webhookUrlRequired();
        }
        await saveVoiceSettings(tx, ref.agentId, next);
        return next;
      });
      const isNewInbound = patch.inboundUrl || (rotates && saved.inboundUrl !== null);
      if (!isNewInbound) return recordOf(ref.agentId, saved);
      return { ...recordOf(ref.agentId, saved), inboundSecret: secretOf(ref.agentId, saved) };
    },
  };
}

/** Returns the settings as every route shows them: nested, and once more flat, as requests send them. */
function voiceRecord(settings: VoiceSettings, toolSecret: string | undefined) {
  const { voiceMode, systemPrompt, beginMessage, inboundUrl, voice, webhookUrl } = settings;
  const { concurrentCalls, conversation, recordCalls, reportCalls, tools } = settings;
  const voiceConfig = {
    ...(systemPrompt !== null && { systemPrompt }),
    ...(beginMessage !== null && { beginMessage }),
    ...(voice !== null && { voice }),
    model: settings.model ?? DEFAULT_VOICE_MODEL,
    ...(webhookUrl !== null && { webhookUrl }),
    ...(inboundUrl !== null && { inboundUrl }),
    recordCalls,
    reportCalls,
    ...(concurrentCalls !== null && { concurrentCalls }),
    tools: [...tools],
    ...(toolSecret !== undefined && { toolSecret }),
    ...conversation,
  };
  return { voiceMode, voiceConfig, ...voiceConfig };
}
