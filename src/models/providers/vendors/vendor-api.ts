import type { TimedWord } from '../../../engines/engine.ts';
import type { Json } from '../../../kernel/json.ts';
import type { Random } from '../../../kernel/random.ts';

/** Audio file, with the name and content type under which it is sent. */
export type SoundFile = {
  readonly bytes: Buffer;
  readonly durationMs: number;
  readonly contentType: string;
  readonly name: string;
};

/** HTTP request to a vendor, with a path below the vendor's base URL. */
export type VendorRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path below the base URL, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

export type VendorResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
};

/** Sends all requests of one order to one vendor, under one deadline. */
export interface VendorClient {
  /** Sends a request and returns its successful answer. Throws when there is none. */
  send(request: VendorRequest): Promise<VendorResponse>;
  /** Waits between two polls. Throws when the deadline of the order passes. */
  pause(ms: number): Promise<void>;
  /**
   * Cancels an abandoned job, so that the vendor stops working on it. Also sends when the time is up or the client has left,
   * and ignores the answer. Never rejects.
   */
  abandon(request: VendorRequest): Promise<void>;
  readonly random: Random;
}

/** Thrown when a vendor did not deliver: it was unreachable, broke off, took too long, or sent an invalid answer. */
export class VendorFailed extends Error {
  override readonly name: string = 'VendorFailed';
}

/** Thrown when a vendor's answer exceeds the byte limit. The vendor's health is not affected. */
export class VendorSaidTooMuch extends VendorFailed {
  override readonly name = 'VendorSaidTooMuch';
}

/** Thrown when the vendor began the work and gave up because of its input. Another vendor may accept the input. */
export class VendorGaveUp extends VendorFailed {
  override readonly name = 'VendorGaveUp';
}

/** Format that every speech vendor produces: audio in a container, or 16-bit samples at `ENGINE_LIMITS.speech.sampleRateHz`. */
export type VendorFormat = 'mp3' | 'pcm';

/** Request to a vendor to speak a text. */
export type VendorSpeechRequest = {
  readonly text: string;
  /** Name of the model at the vendor. */
  readonly model: string;
  /** Vendor's own name of the voice. Undefined: a voice that every account has. */
  readonly voice?: string | undefined;
  readonly language?: string | undefined;
  /** Speed factor of the speech: 2 is twice as fast. */
  readonly speed?: number | undefined;
  readonly format: VendorFormat;
};

export type SpeechApi = {
  /** Upper bound of a text in code points. Absent: the vendor has no bound. */
  readonly mostChars?: number;
  /** Speeds of speech that the vendor accepts. */
  readonly speeds: { readonly min: number; readonly max: number };
  /** Returns the HTTP request for a text. Its successful answer is the audio, which may be streamed. */
  readonly request: (spoken: VendorSpeechRequest) => VendorRequest;
};

/** Request to a vendor to transcribe a file. */
export type VendorTranscriptionRequest = {
  readonly file: SoundFile;
  /** Name of the model at the vendor. */
  readonly model: string;
  /** Language of the audio. Undefined: the vendor detects it. */
  readonly language?: string | undefined;
  /** True when the caller wants the time of each word. Some vendors report it in any case. */
  readonly wantsWords: boolean;
  /** Further query parameters, for a vendor that speaks Deepgram's protocol. */
  readonly options?: readonly (readonly [name: string, value: string])[];
  /** Further members of the order's JSON, for a vendor that accepts them. */
  readonly members?: Json;
};

/** Transcribed word with its times, and the text between the previous word and this word. */
export type HeardWord = TimedWord & { readonly gap: string };

export type VendorTranscript = {
  readonly text: string;
  readonly language: string | undefined;
  /** Words with their times. Empty when the vendor reported none. */
  readonly words: readonly HeardWord[];
  /** Vendor's answer as it came. */
  readonly json: Json;
  /** `results` in Deepgram's protocol, from a vendor that speaks it. */
  readonly results?: Json;
};

export type HearingApi = {
  /** True when the vendor takes the parameters of Deepgram's protocol. */
  readonly speaksListen?: boolean;
  /** Throws VendorFailed where the answer is no transcript, and what `VendorClient` throws. */
  readonly hear: (
    door: VendorClient,
    heard: VendorTranscriptionRequest,
  ) => Promise<VendorTranscript>;
};

/** Requests and answers of one vendor, used by the gateway and by the marketplace. */
export type VendorApi = {
  readonly name: string;
  /** Returns the headers that authenticate a request. */
  readonly credential: (apiKey: string) => Readonly<Record<string, string>>;
  readonly speech?: SpeechApi;
  readonly hearing?: HearingApi;
};
