import { z } from 'zod';

const text = z.unknown().meta({ type: 'string' }).optional();

const onOff = z.unknown().meta({ type: 'boolean' }).optional();

/** Flat, all optional; an empty text clears. What is wrong with a member has a spelling of its own. */
export const VoiceBody = z.looseObject({
  voiceMode: text,
  systemPrompt: text,
  beginMessage: text,
  voice: text,
  model: text,
  webhookUrl: text,
  recordCalls: onOff,
  reportCalls: onOff,
});

const config = {
  systemPrompt: z.string().optional(),
  beginMessage: z.string().optional(),
  voice: z.string().optional(),
  model: z.string(),
  webhookUrl: z.string().optional(),
  recordCalls: z.boolean(),
  reportCalls: z.boolean(),
};

export const VoiceRecord = z.object({
  voiceMode: z.enum(['hosted', 'webhook']),
  voiceConfig: z.object(config),
  ...config,
});
