import type { Queryable } from '../../platform/postgres/sql.ts';
import type { AgentTool } from '../tools/agent-tools.ts';
import type { ConversationSettings } from './conversation-settings.ts';

export const VOICE_MODES = ['hosted', 'webhook'] as const;
export type VoiceMode = (typeof VOICE_MODES)[number];

/** Settings of an agent for the phone, as they were set. Null: the default. */
export type VoiceSettings = {
  readonly voiceMode: VoiceMode;
  readonly systemPrompt: string | null;
  readonly beginMessage: string | null;
  readonly voice: string | null;
  readonly model: string | null;
  readonly webhookUrl: string | null;
  /** URL that receives a request before an incoming call is answered. Null: no request is sent. */
  readonly inboundUrl: string | null;
  /** The secret that signs requests to the developer is derived from this number. */
  readonly secretVersion: number;
  /** Flags for incoming calls: whether they are recorded, and whether they have a report. */
  readonly recordCalls: boolean;
  readonly reportCalls: boolean;
  /** The most calls of the agent at a time. */
  readonly concurrentCalls: number | null;
  readonly conversation: ConversationSettings;
  readonly tools: readonly AgentTool[];
};

const columns = (sql: Queryable) => sql`
  voice_mode as "voiceMode", system_prompt as "systemPrompt", begin_message as "beginMessage",
  voice, model, webhook_url as "webhookUrl", inbound_url as "inboundUrl", record_calls as "recordCalls",
  report_calls as "reportCalls", calls_at_once as "concurrentCalls", conversation, tools,
  secret_version as "secretVersion"`;

/** Returns the voice settings of an agent. Undefined when none were ever set. */
export async function findVoiceSettings(
  sql: Queryable,
  agentId: number,
): Promise<VoiceSettings | undefined> {
  const [row] = await sql<VoiceSettings[]>`
    select ${columns(sql)} from voice_settings where agent_id = ${agentId}`;
  return row;
}

/**
 * Returns the settings of an agent, and locks their row until the sql transaction ends. The row is inserted if it is missing.
 */
export async function lockVoiceSettings(tx: Queryable, agentId: number): Promise<VoiceSettings> {
  const [row] = await tx<VoiceSettings[]>`
    insert into voice_settings (agent_id) values (${agentId})
    on conflict (agent_id) do update set agent_id = excluded.agent_id
    returning ${columns(tx)}`;
  return row as VoiceSettings;
}

export async function saveVoiceSettings(
  tx: Queryable,
  agentId: number,
  settings: VoiceSettings,
): Promise<void> {
  await tx`
    update voice_settings
    set voice_mode = ${settings.voiceMode}, system_prompt = ${settings.systemPrompt},
      begin_message = ${settings.beginMessage}, voice = ${settings.voice},
      model = ${settings.model}, webhook_url = ${settings.webhookUrl},
      inbound_url = ${settings.inboundUrl},
      record_calls = ${settings.recordCalls}, report_calls = ${settings.reportCalls},
      calls_at_once = ${settings.concurrentCalls},
      conversation = ${tx.json(settings.conversation)}, tools = ${tx.json(settings.tools)},
      secret_version = ${settings.secretVersion}, updated_at = now()
    where agent_id = ${agentId}`;
}
