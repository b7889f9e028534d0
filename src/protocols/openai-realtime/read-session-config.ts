import { z } from 'zod';
import { isObject } from '../../kernel/json.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { VOICE_LIMITS } from '../../voice/limits.ts';
import {
  type ConfigProblem,
  DEFAULT_CONFIG,
  type SessionConfig,
  type Tool,
} from '../../voice/session/session-config.ts';
import { parseAudioFormat } from './audio-format.ts';
import { Detection, readDetection } from './detection.ts';
import { REALTIME_LIMITS } from './limits.ts';

const TRANSCRIPTION_CONFIG: SessionConfig = { ...DEFAULT_CONFIG, isAnswering: false };

/** Problem of a session's member; `param` is the member's path. */
type MemberProblem = { readonly param: string; readonly message: string };

/** Path in the client's session of each setting that a stage may be unable to serve. */
const PARAMS: Readonly<Record<ConfigProblem['setting'], string>> = {
  transcriptionModel: 'session.audio.input.transcription.model',
  transcriptionLanguage: 'session.audio.input.transcription.language',
};

/** Returns a problem of the stages, with the path of its member in the protocol. */
export function memberProblem({ message, setting }: ConfigProblem): MemberProblem {
  const param = PARAMS[setting];
  return { param, message: `${param}: ${message}` };
}

const Format = z.unknown().transform((value, context) => {
  const format = parseAudioFormat(value);
  if (format !== undefined) return format;
  context.addIssue({
    code: 'custom',
    message: 'use audio/pcm at 24000 Hz, audio/pcmu or audio/pcma',
  });
  return z.NEVER;
});

const Modalities = z
  .array(z.enum(['audio', 'text']))
  .min(1)
  .max(2);
const Voice = z.union([
  z.string().min(1).max(64),
  z.object({ id: z.string().min(1).max(64) }).transform((voice) => voice.id),
]);
const MaxTokens = z.union([z.literal('inf'), z.number().int().min(1).max(1_000_000)]);

const ToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ type: z.literal('function'), name: z.string().min(1).max(128) }),
]);

const Tools = z
  .array(
    z.object({
      type: z.literal('function'),
      name: z.string().min(1).max(128),
      description: z.string().max(REALTIME_LIMITS.toolsChars).nullish(),
      parameters: z.unknown().optional(),
    }),
  )
  .max(VOICE_LIMITS.realtime.tools)
  .refine((tools) => JSON.stringify(tools).length <= REALTIME_LIMITS.toolsChars, {
    message: `all tools together may have ${REALTIME_LIMITS.toolsChars} characters`,
  });

/** Transcription settings. Unknown model names are accepted and ignored, because clients send them by default. */
const Transcription = z
  .object({
    model: z.unknown().optional(),
    language: z
      .string()
      .regex(/^([a-z]{2})?$/i, 'must be two letters of ISO 639-1')
      .transform((language) => (language === '' ? null : language.toLowerCase()))
      .nullish(),
    prompt: z
      .string()
      .max(MODEL_LIMITS.transcription.promptChars)
      .transform((prompt) => (prompt === '' ? null : prompt))
      .nullish(),
  })
  .nullable();

/**
 * Settings of a session in both forms of the protocol: nested under `audio`, and flat as in its first version. Null counts as
 * absent, since some clients write every member they know; but null turns transcription and detection off.
 */
const Update = z.object({
  type: z.enum(['realtime', 'transcription']).nullish(),
  instructions: z.string().max(REALTIME_LIMITS.instructionsChars).nullish(),
  output_modalities: Modalities.nullish(),
  modalities: Modalities.nullish(),
  audio: z
    .object({
      input: z
        .object({
          format: Format.nullish(),
          transcription: Transcription.optional(),
          turn_detection: Detection.optional(),
        })
        .nullish(),
      output: z
        .object({
          format: Format.nullish(),
          voice: Voice.nullish(),
          speed: z.number().min(0.25).max(1.5).nullish(),
        })
        .nullish(),
    })
    .nullish(),
  input_audio_format: Format.nullish(),
  output_audio_format: Format.nullish(),
  input_audio_transcription: Transcription.optional(),
  turn_detection: Detection.optional(),
  voice: Voice.nullish(),
  speed: z.number().min(0.25).max(1.5).nullish(),
  tools: Tools.nullish(),
  tool_choice: ToolChoice.nullish(),
  max_output_tokens: MaxTokens.nullish(),
  max_response_output_tokens: MaxTokens.nullish(),
});

/** Parses the first settings of a session, from a client secret or from the type in the handshake. */
export function readSession(value: unknown): ReturnType<typeof updateConfig> {
  const isTranscription = sessionType(value) === 'transcription';
  return updateConfig(isTranscription ? TRANSCRIPTION_CONFIG : DEFAULT_CONFIG, value);
}

export type SessionType = 'realtime' | 'transcription';

/** Returns the type of a session, which is fixed from the start. */
export const sessionType = (value: unknown): SessionType =>
  isObject(value) && value.type === 'transcription' ? 'transcription' : 'realtime';

/** Applies a client's `session.update` to the settings. Members that the update leaves out keep their values. */
export function updateConfig(
  before: SessionConfig,
  value: unknown,
): { readonly config: SessionConfig } | { readonly problem: MemberProblem } {
  const parsed = Update.safeParse(value ?? {});
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = ['session', ...(issue?.path ?? [])].join('.');
    return { problem: { param: path, message: `${path}: ${issue?.message ?? 'is invalid'}` } };
  }
  const update = parsed.data;
  const type: SessionType = before.isAnswering ? 'realtime' : 'transcription';
  if ((update.type ?? type) !== type) {
    const message = `session.type: this is a ${type} session; open another one for that.`;
    return { problem: { param: 'session.type', message } };
  }
  const { input, output } = update.audio ?? {};
  const modalities = update.output_modalities ?? update.modalities;
  const detection = firstDefined(input?.turn_detection, update.turn_detection);
  const transcription = firstDefined(input?.transcription, update.input_audio_transcription);
  return {
    config: {
      isAnswering: before.isAnswering,
      instructions: update.instructions ?? before.instructions,
      outputModality: chooseModality(modalities, before.outputModality),
      inputFormat: input?.format ?? update.input_audio_format ?? before.inputFormat,
      outputFormat: output?.format ?? update.output_audio_format ?? before.outputFormat,
      voice: output?.voice ?? update.voice ?? before.voice,
      speed: output?.speed ?? update.speed ?? before.speed,
      turnDetection: detection === undefined ? before.turnDetection : readDetection(detection),
      transcription: transcription === undefined ? before.transcription : transcription !== null,
      transcriptionModel: modelOf(transcription?.model) ?? before.transcriptionModel,
      transcriptionLanguage: keep(transcription?.language, before.transcriptionLanguage),
      transcriptionPrompt: keep(transcription?.prompt, before.transcriptionPrompt),
      tools: update.tools?.map(readTool) ?? before.tools,
      toolChoice: update.tool_choice ?? before.toolChoice,
      maxOutputTokens:
        update.max_output_tokens ?? update.max_response_output_tokens ?? before.maxOutputTokens,
    },
  };
}

/** Applies a client's update, or returns the problem when the stages cannot serve the result. */
export function updateFitting(
  { problemOf }: { readonly problemOf: (config: SessionConfig) => ConfigProblem | undefined },
  before: SessionConfig,
  value: unknown,
): ReturnType<typeof updateConfig> {
  const updated = updateConfig(before, value);
  if ('problem' in updated) return updated;
  const problem = problemOf(updated.config);
  return problem === undefined ? updated : { problem: memberProblem(problem) };
}

const modelOf = (model: unknown): string | undefined =>
  typeof model === 'string' && model.length <= MODEL_LIMITS.idChars ? model : undefined;

/** Returns the new value, or the old value when the update leaves the setting out. Null clears a setting. */
const keep = <T>(wanted: T | undefined, before: T): T => (wanted === undefined ? before : wanted);

const firstDefined = <T>(a: T | undefined, b: T | undefined): T | undefined =>
  a === undefined ? b : a;

/** Returns the output modality. Older clients request text and audio together, which means audio with its transcript. */
function chooseModality(
  modalities: readonly ('audio' | 'text')[] | null | undefined,
  before: 'audio' | 'text',
): 'audio' | 'text' {
  if (!modalities) return before;
  return modalities.includes('audio') ? 'audio' : 'text';
}

const readTool = (tool: z.output<typeof Tools>[number]): Tool => ({
  type: 'function',
  name: tool.name,
  description: tool.description ?? '',
  parameters: tool.parameters ?? { type: 'object', properties: {} },
});
