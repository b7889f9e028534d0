import { z } from 'zod';
import { AgentTool } from '../../../../phone/tools/agent-tools.ts';
import {
  CONVERSATION_SHAPE,
  VOICE_OVERRIDES_SHAPE,
} from '../../../../phone/voice/conversation-settings.ts';

const text = z.unknown().meta({ type: 'string' }).optional();

const onOff = z.unknown().meta({ type: 'boolean' }).optional();

/**
 * Body of a change of voice settings. Every member is optional, an empty text clears it, and the use case validates it with
 * errors of its own.
 */
export const VoiceBody = z.looseObject({
  voiceMode: text,
  systemPrompt: text,
  beginMessage: text,
  model: text,
  webhookUrl: text,
  inboundUrl: text,
  recordCalls: onOff,
  reportCalls: onOff,
  concurrentCalls: z.unknown().meta({ type: 'integer' }).optional(),
  /** The functions and services that a hosted model may call; an empty list clears them. */
  tools: z
    .unknown()
    .meta({ type: 'array', items: { type: 'object' } })
    .optional(),
  /** Replaces the secret that signs requests to the functions, from the next call on. */
  rotateToolSecret: onOff,
  ...VOICE_OVERRIDES_SHAPE,
});

const config = {
  systemPrompt: z.string().optional(),
  beginMessage: z.string().optional(),
  voice: z.string().optional(),
  model: z.string(),
  webhookUrl: z.string().optional(),
  inboundUrl: z.string().optional(),
  recordCalls: z.boolean(),
  reportCalls: z.boolean(),
  /** Concurrent calls of the agent. Absent: the operator's limit for agents applies. */
  concurrentCalls: z.number().optional(),
  tools: z.array(AgentTool),
  /** Signs requests to the functions, as Standard Webhooks say. Absent: there is no function. */
  toolSecret: z.string().optional(),
  ...CONVERSATION_SHAPE,
};

export const VoiceRecord = z.object({
  voiceMode: z.enum(['hosted', 'webhook']),
  voiceConfig: z.object(config),
  /** The secret of the signatures, in the answer that sets an inbound URL and in no other. */
  inboundSecret: z.string().optional(),
  ...config,
});
