import type { SoundFormat } from '../../../media/coding.ts';
import { endpointingOf, SERVER_VAD, type TurnDetection, waitsOf } from './turn-detection.ts';

export type Tool = {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
};

/** Settings of a voice session in any protocol. Every value is within its bound. */
export type SessionConfig = {
  /** Fixed when the session begins. False for a session that transcribes and never answers. */
  readonly isAnswering: boolean;
  readonly instructions: string;
  readonly outputModality: 'audio' | 'text';
  readonly inputFormat: SoundFormat;
  readonly outputFormat: SoundFormat;
  readonly voice: string;
  readonly speed: number;
  readonly turnDetection: TurnDetection | null;
  /** True when the client receives transcripts of the caller. */
  readonly transcription: boolean;
  /** Transcription model, under the client's name for it; null when the client names none. */
  readonly transcriptionModel: string | null;
  /** Language to expect, as a two-letter code; null when the model detects the language. */
  readonly transcriptionLanguage: string | null;
  /** Words to expect in the caller's speech; null when the client names none. */
  readonly transcriptionPrompt: string | null;
  readonly tools: readonly Tool[];
  readonly toolChoice:
    | 'auto'
    | 'none'
    | 'required'
    | { readonly type: 'function'; readonly name: string };
  readonly maxOutputTokens: number | 'inf';
};

const PCM_24K: SoundFormat = { encoding: 'linear16', sampleRateHz: 24_000 };

export const DEFAULT_CONFIG: SessionConfig = {
  isAnswering: true,
  instructions: '',
  outputModality: 'audio',
  inputFormat: PCM_24K,
  outputFormat: PCM_24K,
  voice: 'rms',
  speed: 1,
  turnDetection: SERVER_VAD,
  transcription: true,
  transcriptionModel: null,
  transcriptionLanguage: null,
  transcriptionPrompt: null,
  tools: [],
  toolChoice: 'auto',
  maxOutputTokens: 'inf',
};

/** Returns true when a change of settings changes how the caller is transcribed. */
export function isHeardOtherwise(
  before: SessionConfig,
  after: SessionConfig,
  transcriberModel: (config: SessionConfig) => string,
): boolean {
  const heardBy = (config: SessionConfig) =>
    JSON.stringify([
      config.inputFormat,
      transcriberModel(config),
      config.transcriptionLanguage,
      config.transcriptionPrompt,
      endpointingOf(config.turnDetection),
      waitsOf(config.turnDetection),
    ]);
  return heardBy(before) !== heardBy(after);
}

/** A setting that the stages of a session cannot serve, and the reason. */
export type ConfigProblem = {
  readonly setting: 'transcriptionModel' | 'transcriptionLanguage';
  readonly message: string;
};

/** Thrown when a session cannot begin with its settings. */
export class ConfigUnfit extends Error {
  override readonly name = 'ConfigUnfit';
  readonly problem: ConfigProblem;

  constructor(problem: ConfigProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Throws ConfigUnfit when the stages cannot serve these settings. */
export function requireServed(
  { problemOf }: { readonly problemOf: (config: SessionConfig) => ConfigProblem | undefined },
  config: SessionConfig,
): void {
  const problem = problemOf(config);
  if (problem !== undefined) throw new ConfigUnfit(problem);
}
