/**
 * Interfaces of the engines that the voice pipeline uses, wherever an engine runs: in a worker thread of this process
 * or behind a provider's API.
 */
import type { StopSignal } from '../kernel/stop-signal.ts';
import type { EncodedFormat } from './tts/sound-encoder.ts';

/** Thrown when the package of an engine was pruned from this installation. */
export class EngineMissing extends Error {
  override readonly name = 'EngineMissing';
}

/** Thrown at once when every engine of the pool is in use. A stream is never queued. */
export class EngineBusy extends Error {
  override readonly name = 'EngineBusy';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('every engine of the pool is in use');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A word with its start and end, in milliseconds since the beginning of the audio or utterance that contains the word. */
export type TimedWord = {
  readonly word: string;
  readonly startMs: number;
  readonly endMs: number;
};

export type Transcript = {
  readonly text: string;
  /** False for a hypothesis that may still change; true for a final segment. */
  readonly isFinal: boolean;
  /** Words, timed by the audio pushed since the last utterance was ended. Absent when the recogniser reports no times. */
  readonly words?: readonly TimedWord[] | undefined;
};

/** Events of a recogniser that finds the ends of turns, about the turn in progress. Its words come as transcripts. */
export type TurnSign = 'likely_over' | 'resumed' | 'over';

/** Settings of a recogniser that finds the ends of turns. */
export type TurnBounds = {
  /** Silence that ends a turn: no less, and no more. */
  readonly leastMs: number;
  readonly mostMs: number;
  /** Ends that are only likely are reported, too. */
  readonly isEager: boolean;
};

export type SttListener = {
  transcript(transcript: Transcript): void;
  /** Called when the engine failed on this stream and could not be replaced. */
  failed(error: Error): void;
  /** Called by recognisers that detect the ends of turns. */
  turn?(sign: TurnSign): void;
  /** Called when the stream has given its engine back between two utterances. The stream takes no more audio. */
  released?(): void;
};

/** Thrown when the worker of an engine died, hung, or was ended while a call was in flight. */
export class EngineCrashed extends Error {
  override readonly name = 'EngineCrashed';
}

/** Thrown when the engine cannot carry out the request, because of an invalid grammar or a text beyond its bound. */
export class EngineInputRefused extends Error {
  override readonly name = 'EngineInputRefused';
  /** Path of the request's member that the refusal is about; undefined when it is unknown. */
  readonly param: string | undefined;

  constructor(message: string, param?: string) {
    super(message);
    this.param = param;
  }
}

/** One live stream. Audio is 16-bit mono PCM at the rate given to `open`; the stream keeps no reference to the array. */
export interface SttStream {
  /** True when the stream reports the ends of turns. Absent means false. */
  readonly takesTurns?: boolean;
  push(pcm: Int16Array): void;
  /**
   * Ends an utterance. Resolves once the remaining audio is decoded and its final transcript is delivered. Rejects with
   * UtteranceLost when only this utterance failed.
   */
  endUtterance(): Promise<void>;
  /** Drops the utterance and forgets its audio. When it is absent, the utterance is ended like any other. */
  dropUtterance?(): Promise<void>;
  /** Gives the engine back to its pool. Safe to call twice. */
  close(): void;
}

/** Thrown when one utterance could not be transcribed, for the reason in `cause`. Its recogniser continues. */
export class UtteranceLost extends Error {
  override readonly name = 'UtteranceLost';
}

/** `live`: a person, who pauses and lets others speak. `file`: audio that is transcribed without a pause. */
export type ListeningLoad = 'live' | 'file';

/** Room at an engine for one who is listened to. */
export interface EnginePlace {
  /** Gives the place back. Safe to call twice. */
  release(): void;
}

export interface SttEngine {
  /** True when streams of this engine report the ends of turns. Absent means false. */
  readonly takesTurns?: boolean;
  /** Opens a stream. Rejects with EngineBusy or EngineMissing. */
  open(options: {
    readonly sampleRateHz: number;
    readonly listener: SttListener;
    /** A JSGF grammar, for engines that use a grammar. */
    readonly grammar?: string;
    readonly language?: string;
    /** Words to expect in the audio, for engines that support a prompt. */
    readonly prompt?: string;
    /** Bounds of turns, for engines that detect the ends of turns. */
    readonly turns?: TurnBounds;
    /** Slot of the listener at an engine of this process. When it is absent, the stream takes a slot of its own. */
    readonly place?: EnginePlace | undefined;
    /** Kind of the stream's sound. Default: speech of a person. */
    readonly load?: ListeningLoad;
  }): Promise<SttStream>;
}

/** A recogniser of this process, which has room for as many listeners as it can keep up with. */
export interface SharedSttEngine extends SttEngine {
  /**
   * Takes room for one listener, all of whose utterances are then transcribed. Throws EngineBusy or EngineMissing; never throws
   * EngineBusy when `isUnderWay` (the listener's call is in progress).
   */
  takePlace(isUnderWay?: boolean): EnginePlace;
  readonly places: {
    readonly taken: number;
    /** Listeners that were refused so far. */
    readonly refused: number;
    /** Live listeners that there is room for in all. */
    readonly most: number;
  };
}

export type SpeechChunk = {
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
  /** Words that this chunk of audio speaks. */
  readonly text: string;
};

export interface TtsEngine {
  /** Speaks a text sentence by sentence and yields the first audio as early as possible. Stops when `signal` fires. */
  speak(request: {
    readonly text: string;
    readonly voice: string;
    readonly speed?: number;
    readonly signal: StopSignal;
    /** Agent in whose name the work is queued. Undefined for work of the server itself. */
    readonly agentId?: number;
  }): AsyncIterable<SpeechChunk>;
}

/** An audio file while it is being encoded. One call at a time. */
export interface EncodedSound {
  /** Returns the bytes that 16-bit sound at `ENGINE_LIMITS.speech.sampleRateHz` adds to the file. The array is handed over. */
  push(pcm: Int16Array): Promise<Uint8Array>;
  /** Returns the remaining bytes of the file. */
  finish(): Promise<Uint8Array>;
  /** Gives the encoder back to its pool. Safe to call twice. */
  close(): void;
}

export interface SoundEncoding {
  /** Returns true when the encoder of the format is part of this installation. */
  makes(format: EncodedFormat): boolean;
  /** Opens an encoder. Rejects with EngineBusy or EngineMissing. */
  open(format: EncodedFormat): Promise<EncodedSound>;
}

/** The audio of a file while it is being decoded. One call at a time. */
export interface DecodedFile {
  /**
   * Resolves to whole frames of 20 ms at 16 kHz, some seconds of audio; to undefined at the end. Rejects with
   * EngineInputRefused.
   */
  next(): Promise<Int16Array | undefined>;
  /** Duration of the decoded sound, in milliseconds. */
  readonly soundMs: number;
  /** Gives the decoder back to its pool. Safe to call twice. */
  close(): void;
}

export interface SoundDecoding {
  /**
   * Opens a file. `statedMs` is the duration that was measured in the file. Rejects with EngineBusy or EngineMissing, and with
   * EngineInputRefused for a file whose first seconds cannot be decoded.
   */
  open(file: Buffer, statedMs: number): Promise<DecodedFile>;
}

/** A text to embed, as characters or as tokens of OpenAI's encoder for embeddings (cl100k). */
export type EmbeddedText = string | readonly number[];

export interface EmbeddingEngine {
  /** Resolves to one unit vector for each text, in order. Rejects with EngineInputRefused for tokens that are no text. */
  embed(texts: readonly EmbeddedText[], agentId?: number): Promise<readonly Float32Array[]>;
}

export interface VadStream {
  /**
   * Resolves to the probability of speech in 32 ms of 16 kHz audio (512 samples); the stream keeps state between calls. Reads
   * or copies the samples before it returns, since all listeners share the array.
   */
  probability(frame: Int16Array): Promise<number>;
  close(): void;
}

export interface VadEngine {
  open(): Promise<VadStream>;
}

export type ChatMessage = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
};

/** Facts that the built-in guide may say about its caller. Read before the turn, off the audio path. */
export type CallerFacts = {
  readonly agentName: string;
  readonly spendableRaw: bigint;
  readonly heldRaw: bigint;
  readonly spentRaw: bigint;
};

export type GuideReply = {
  readonly text: string;
  /** True when the answer was cut at `maxTokens`. */
  readonly isCut?: boolean;
  readonly toolCall?: { readonly name: string; readonly argumentsJson: string };
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
};

/** A tool that the guide may call. */
export type GuideTool = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the tool's arguments. Undefined for a tool without arguments. */
  readonly parameters?: unknown;
  /** Path of the tool in the request, which a refusal names. */
  readonly place?: string;
};

/** Format of an answer: a JSON object, of `schema` when given. `place` is its path in the request, for refusals. */
export type GuideFormat = { readonly schema?: unknown; readonly place?: string };

/** The built-in responder. It is deterministic, and says of itself that it is a guide and not a language model. */
export interface GuideEngine {
  /** Returns the answer. Rejects with EngineInputRefused when a JSON Schema of the request allows no value. */
  reply(request: {
    readonly messages: readonly ChatMessage[];
    readonly tools?: readonly GuideTool[];
    /** True when the answer must call a tool, whatever the question is. */
    readonly mustCall?: boolean;
    readonly format?: GuideFormat;
    /** Stop sequences: the answer ends before the first of them. */
    readonly stop?: readonly string[];
    readonly facts: CallerFacts;
    readonly maxTokens: number;
    readonly nowMs: number;
    /** Agent in whose name the work is queued. Undefined for work of the server itself. */
    readonly agentId?: number;
  }): Promise<GuideReply>;
}

/** Counts the tokens of text as OpenAI's encoder cl100k does. */
export interface TokenCounter {
  /** Counts only the beginning of a long text and scales up. Rejects with EngineBusy or EngineMissing. */
  count(text: string, agentId?: number): Promise<number>;
}

export type EngineName =
  | ('pocketsphinx' | 'grammar' | 'flite' | 'use-lite' | 'vad' | 'guide' | 'decoders')
  | EncodedFormat;

/** The engines of this process, each loaded on first use. `missing` reports a pruned package without loading its engine. */
export interface LocalEngines extends AsyncDisposable {
  readonly stt: { readonly pocketsphinx: SharedSttEngine; readonly grammar: SharedSttEngine };
  readonly tts: { readonly flite: TtsEngine };
  readonly encoding: SoundEncoding;
  readonly decoding: SoundDecoding;
  readonly embedding: { readonly useLite: EmbeddingEngine };
  readonly vad: VadEngine;
  readonly guide: GuideEngine;
  readonly tokens: TokenCounter;
  /** Starts loading the engines for a spoken answer, so that the first answer does not wait. Never fails; call it once. */
  warmUp(): void;
  /** Returns a sentence that names the missing package; undefined when the engine is installed. */
  missing(engine: EngineName): string | undefined;
}
