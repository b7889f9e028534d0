import { ENGINE_LIMITS } from '../../engines/limits.ts';
import { VOICE_LIMITS } from '../limits.ts';
import type { SessionProblem } from './answer-request.ts';

/** Milliseconds of speech that the reserve of a turn covers: an utterance that waits to be billed, and one in progress. */
export const RESERVED_MS = 2 * ENGINE_LIMITS.utterance.committedSeconds * 1_000;

export const OVER_RESERVE: SessionProblem = {
  code: 'input_audio_over_reserve',
  message: 'More speech waits to be billed than one turn may hold; this audio was dropped.',
};

export const SOUND_TOO_FAST: SessionProblem = {
  code: 'audio_too_fast',
  message: `Audio may be at most ${VOICE_LIMITS.audioAheadSeconds} s ahead of real time; this was dropped.`,
};

export const NOTHING_TO_COMMIT: SessionProblem = {
  code: 'input_audio_buffer_commit_empty',
  message: `The input audio buffer holds less than ${VOICE_LIMITS.transcription.commitMinMs} ms of speech.`,
};
