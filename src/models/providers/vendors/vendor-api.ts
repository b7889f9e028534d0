import type { TimedWord } from '../../../engines/engine.ts';
import type { Json } from '../../../kernel/json.ts';
import type { Random } from '../../../kernel/random.ts';

/** A file of sound. */
export type SoundFile = {
  readonly bytes: Buffer;
  readonly durationMs: number;
  readonly contentType: string;
  readonly name: string;
};

/** A request below the base address of a vendor. */
export type VendorRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

export type VendorResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
};

/** The way to one vendor, for one order: all its requests share one deadline. */
export interface VendorClient {
  /** Answers what is a success. Throws where there is none. */
  send(request: VendorRequest): Promise<VendorResponse>;
  /** Waits between two questions. Throws when the time of the order is up. */
  pause(ms: number): Promise<void>;
  /**
   * Cancels an abandoned job, so that the vendor stops working on it. Also sends when the time is up or the client has left,
   * and ignores the answer. Never rejects.
   */
  abandon(request: VendorRequest): Promise<void>;
  readonly random: Random;
}

/** A vendor did not deliver: it cannot be reached, broke off, took too long, or answered what is none. */
export class VendorFailed extends Error {
  override readonly name: string = 'VendorFailed';
}

/** The vendor's answer is longer than is read here, which says nothing about its health. */
export class VendorSaidTooMuch extends VendorFailed {
  override readonly name = 'VendorSaidTooMuch';
}

/** The vendor began the work and gave it up because of its input, which another vendor may accept. */
export class VendorGaveUp extends VendorFailed {
  override readonly name = 'VendorGaveUp';
}

/** Format that every vendor of speech makes: sound in a container, and 16-bit samples at `LIMITS.speech.sampleRateHz`. */
export type VendorFormat = 'mp3' | 'pcm';

/** A text to be spoken. */
export type VendorSpeechRequest = {
  readonly text: string;
  /** The vendor's own name of the model. */
  readonly model: string;
  /** Vendor's own name of the voice. Undefined: a voice that every account has. */
  readonly voice?: string | undefined;
  readonly language?: string | undefined;
  /** Twice as fast is 2. */
  readonly speed?: number | undefined;
  readonly format: VendorFormat;
};

export type SpeechApi = {
  /** Upper bound of a text in code points. Absent: the vendor has no bound. */
  readonly mostChars?: number;
  /** Speeds of speech that the vendor accepts. */
  readonly speeds: { readonly min: number; readonly max: number };
  /** A request whose successful answer is the sound, which may come while it is made. */
  readonly request: (spoken: VendorSpeechRequest) => VendorRequest;
};

/** Sound to be written down. */
export type VendorTranscriptionRequest = {
  readonly file: SoundFile;
  /** The vendor's own name of the model. */
  readonly model: string;
  /** Undefined: the vendor finds it out. */
  readonly language?: string | undefined;
  /** True when the caller wants the time of each word. Some vendors report it unasked. */
  readonly wantsWords: boolean;
  /** Further parameters, for a vendor that speaks Deepgram's protocol. */
  readonly options?: readonly (readonly [name: string, value: string])[];
  /** Further members of the order, for a vendor that takes such. */
  readonly members?: Json;
};

/** A word, its times, and what stands between the one before and it. */
export type HeardWord = TimedWord & { readonly gap: string };

export type VendorTranscript = {
  readonly text: string;
  readonly language: string | undefined;
  /** Words with their times. Empty when the vendor reported none. */
  readonly words: readonly HeardWord[];
  /** Vendor's answer as it came. */
  readonly json: Json;
  /** The results of Deepgram's protocol, from a vendor that speaks it. */
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

/** The requests and answers of vendors, for the gateway and for the marketplace alike. */
export type VendorApi = {
  readonly name: string;
  /** The headers that open a request. */
  readonly credential: (apiKey: string) => Readonly<Record<string, string>>;
  readonly speech?: SpeechApi;
  readonly hearing?: HearingApi;
};
