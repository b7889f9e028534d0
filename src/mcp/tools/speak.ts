import { z } from 'zod';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { SPEECH_LIMITS } from '../../models/speech/limits.ts';
import { speech } from '../../routes/audio/speech.ts';
import { MCP_LIMITS } from '../limits.ts';
import { present, tool } from '../tool.ts';
import { costOf, toolResult } from '../tool-result.ts';

const { plainSpeechChars, speechBytes } = MCP_LIMITS;
const { inputChars, instructionsChars, speed, voiceChars } = SPEECH_LIMITS;

const COMPRESSED = ['mp3', 'opus', 'aac'] as const;
const PLAIN = ['wav', 'flac'] as const;

const Input = z
  .object({
    text: z.string().min(1).max(inputChars).describe('What is said'),
    model: z.string().min(1).max(MODEL_LIMITS.idChars).default('local/flite'),
    voice: z.string().min(1).max(voiceChars).optional().describe('One that the model has'),
    format: z
      .enum([...COMPRESSED, ...PLAIN])
      .default('mp3')
      .describe(`wav and flac take at most ${plainSpeechChars} characters`),
    speed: z.number().min(speed.min).max(speed.max).optional(),
    instructions: z.string().max(instructionsChars).optional(),
  })
  .refine(
    ({ format, text, speed: rate = 1 }) =>
      COMPRESSED.some((name) => name === format) || text.length <= plainSpeechChars * rate,
    { path: ['text'], error: `has at most ${plainSpeechChars} characters in this format` },
  );

/** Tool that synthesizes speech from a text and returns it in base64. */
export const speak = tool({
  name: 'speak',
  title: 'Text to speech',
  description:
    'Says a text and answers the sound in base64. Charged by the character: estimate tells the price.',
  isReadOnly: false,
  input: Input,

  async call({ format, model, text, ...rest }, ask) {
    const body = present({ model, input: text, response_format: format, ...rest });
    const answer = await ask(speech, { body, maxBytes: speechBytes });
    const { bytes, contentType: mimeType, isCut } = answer;
    const facts = {
      model,
      mimeType,
      bytes: bytes.length,
      ...(isCut && { truncated: true }),
      ...costOf(answer),
    };
    return toolResult(facts, [{ type: 'audio', data: bytes.toString('base64'), mimeType }]);
  },
});
