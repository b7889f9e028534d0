import type { SessionConfig } from '../../voice/session/session-config.ts';
import { renderAudioFormat } from './audio-format.ts';
import { renderDetection } from './detection.ts';

export type SessionIdentity = {
  readonly id: string;
  /** Undefined when the handshake will name the model. */
  readonly model: string | undefined;
  /** Id of the model that transcribes the caller. */
  readonly transcriber: string;
};

/** Returns the session for `session.created` and `session.updated`, with the settings in effect. */
export function renderSession(
  config: SessionConfig,
  identity: SessionIdentity,
): Record<string, unknown> {
  const { isAnswering } = config;
  const input = {
    format: renderAudioFormat(config.inputFormat),
    transcription: config.transcription
      ? {
          model: identity.transcriber,
          language: config.transcriptionLanguage,
          prompt: config.transcriptionPrompt,
        }
      : null,
    noise_reduction: null,
    turn_detection: renderDetection(config.turnDetection, { isAnswering }),
  };
  if (!isAnswering) {
    return {
      type: 'transcription',
      object: 'realtime.transcription_session',
      id: identity.id,
      audio: { input },
      include: null,
    };
  }
  return {
    type: 'realtime',
    object: 'realtime.session',
    id: identity.id,
    ...(identity.model !== undefined && { model: identity.model }),
    output_modalities: [config.outputModality],
    instructions: config.instructions,
    tools: config.tools,
    tool_choice: config.toolChoice,
    max_output_tokens: config.maxOutputTokens,
    truncation: 'auto',
    tracing: null,
    include: null,
    prompt: null,
    audio: {
      input,
      output: {
        format: renderAudioFormat(config.outputFormat),
        voice: config.voice,
        speed: config.speed,
      },
    },
  };
}
