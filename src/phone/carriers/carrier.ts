import type { SoundFormat } from '../../../media/coding.ts';

export const CARRIERS = ['twilio', 'telnyx', 'loopback'] as const;
export type CarrierName = (typeof CARRIERS)[number];

/** A number that is for sale at the carrier. */
export type OfferedNumber = {
  readonly phoneNumber: string;
  readonly friendlyName: string;
  readonly locality: string | null;
  readonly region: string | null;
};

/** A number that this server has rented from the carrier. */
export type CarrierNumber = { readonly carrierNumberId: string; readonly phoneNumber: string };

/** Phone numbers at a carrier. Every method throws CarrierFailed. */
export interface CarrierNumbers {
  /** Finds up to `limit` numbers for rent that can receive calls and require no registered address. */
  search(query: {
    readonly areaCode?: string | undefined;
    readonly phoneNumber?: string | undefined;
    /** Two letters; absent: the United States. */
    readonly country?: string | undefined;
    readonly limit: number;
  }): Promise<readonly OfferedNumber[]>;
  /** Rents a number whose calls come to this server. The carrier stores `purchaseId` with the number. */
  buy(request: {
    readonly phoneNumber: string;
    readonly purchaseId: string;
  }): Promise<CarrierNumber>;
  /** Finds the number of a purchase whose answer was lost. Undefined when the purchase got none. */
  findPurchase(purchaseId: string): Promise<CarrierNumber | undefined>;
  /** Gives a number back. Also resolves when the carrier no longer has the number. */
  release(carrierNumberId: string): Promise<void>;
}

/** State of a call under Twilio's names, which every adapter uses. `invalid` is a failure: there is no such number. */
export const CARRIER_STATUSES = [
  'queued',
  'ringing',
  'in-progress',
  'completed',
  'busy',
  'no-answer',
  'canceled',
  'failed',
  'invalid',
] as const;
export type CarrierStatus = (typeof CARRIER_STATUSES)[number];

/** The carrier's verdict on who answered the call. */
export type AnsweredBy = 'human' | 'machine_start' | 'machine_end' | 'fax' | 'unknown';

export type DialRequest = {
  /** This server's id of the call, which the carrier repeats in every callback and in the first message of the media stream. */
  readonly callId: string;
  readonly from: string;
  readonly to: string;
  readonly ringSeconds: number;
  readonly longestSeconds: number;
  /** True when the carrier detects answering machines and reports the result during the call. */
  readonly detectsMachine: boolean;
  /** True when the carrier also waits for the end of the machine's greeting, and may report nothing before that end. */
  readonly awaitsGreetingEnd?: boolean;
};

export type TransferOrder = {
  readonly to: string;
  /** Seconds after the answer of the other person at which the carrier ends both legs. */
  readonly longestSeconds: number;
  /** True when the other person is to hear the summary of the call first, if the carrier can do that. */
  readonly whispers: boolean;
};

/** Numbers of the caller and the callee, in E.164 format. */
export type CallParties = Pick<DialRequest, 'from' | 'to'>;

/** The carrier's record of a call. */
export type CarrierCall = {
  readonly carrierCallId: string;
  readonly status: CarrierStatus;
  /** Length of the answered call in seconds; null before its end. */
  readonly durationSeconds: number | null;
  /** Price of the carrier, in raw USDC; null until it has priced the call. */
  readonly priceRaw: bigint | null;
};

/** A carrier's answer about the recording of a call. */
export type FoundRecording =
  | { readonly kind: 'whole'; readonly recordingId: string; readonly durationSeconds: number }
  /** `none`: the call has no recording. `unsure`: the recording is incomplete, or the carrier no longer has the call. */
  | { readonly kind: 'none' | 'unsure'; readonly recordingId?: string | undefined };

/** Calls at a carrier. Every method throws CarrierFailed. */
export interface CarrierCalls {
  /** Starts a call. Resolves once the carrier has accepted it. */
  dial(request: DialRequest): Promise<{ readonly carrierCallId: string }>;
  /** Ends a call in any state. Also resolves when the call is over already. */
  hangUp(carrierCallId: string): Promise<void>;
  /** Returns the carrier's record of a call. Undefined when the carrier has no such call. */
  find(carrierCallId: string): Promise<CarrierCall | undefined>;
  /** Plays keypad digits to the peer. The media stream comes back afterwards. */
  sendDigits(call: CarrierLeg, digits: string): Promise<void>;
  /** Connects the peer to another number. A failed transfer brings the media stream back. */
  transfer(call: CarrierLeg, order: TransferOrder): Promise<void>;
  /**
   * Starts a recording of the call with one channel for each side. Resolves with the carrier's id of the recording; undefined
   * when only `findRecording` or the `recording` callback knows the id.
   */
  startRecording(call: CarrierLeg): Promise<string | undefined>;
  /** Replaces the recorded sound by silence until `resumeRecording`, so that no words or keypad digits are recorded. */
  pauseRecording(call: CarrierLeg): Promise<void>;
  resumeRecording(call: CarrierLeg): Promise<void>;
  /** Ends the recording of a call. Also resolves when the call is not recorded or is over. */
  stopRecording(call: CarrierLeg): Promise<void>;
  /** Finds the recording of a call, by `recordingId` when the id is known. */
  findRecording(call: CarrierLeg, recordingId: string | null): Promise<FoundRecording>;
  /**
   * Downloads a recording as WAV, up to `PHONE_LIMITS.recording.bytes`. Undefined when the carrier does not have the recording;
   * the iteration rejects when the connection breaks.
   */
  fetchRecording(recordingId: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Deletes a recording. Also resolves when the carrier no longer has it. */
  deleteRecording(recordingId: string): Promise<void>;
}

/** Names of the methods of `CarrierCalls` that are about recordings. */
export type RecordingMethod = Extract<keyof CarrierCalls, `${string}Recording`>;
export type CarrierRecordings = Pick<CarrierCalls, RecordingMethod>;

/** A call by our id and the carrier's id. */
export type CarrierLeg = { readonly callId: string; readonly carrierCallId: string };

/** An HTTP request that claims to come from a carrier. Its signature is not verified yet. */
export type CallbackRequest = {
  /** URL that the carrier has called, with the public origin of this server. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** Reasons why a transfer failed. */
export const FAILED_TRANSFERS = ['busy', 'no-answer', 'failed', 'canceled'] as const;
export type FailedTransfer = (typeof FAILED_TRANSFERS)[number];

/** The content of a carrier's callback. `callId` is this server's id; undefined: the call came from outside. */
export type CallbackEvent =
  /** The peer is connected: the carrier requests an instruction for the call. */
  | {
      readonly kind: 'answered';
      readonly callId: string | undefined;
      readonly carrierCallId: string;
      readonly from: string;
      readonly to: string;
      /** True when the call had a media stream before, which broke or was interrupted by digits or a transfer. */
      readonly isAgain: boolean;
      /** Outcome of a failed transfer from which the call comes back. */
      readonly transferFailed?: FailedTransfer;
    }
  /** The target of a transfer has answered the call. */
  | { readonly kind: 'transferred'; readonly callId: string; readonly carrierCallId: string }
  /** The target of a transfer has answered: the carrier asks for the summary to read to them before it connects them. */
  | { readonly kind: 'whisper'; readonly callId: string }
  | {
      readonly kind: 'status';
      readonly callId: string | undefined;
      readonly carrierCallId: string;
      readonly status: CarrierStatus;
      /** Position of the event in the carrier's order of events. A later event has a higher number. */
      readonly sequence: number;
      readonly durationSeconds: number | null;
      readonly priceRaw: bigint | null;
    }
  | { readonly kind: 'machine'; readonly carrierCallId: string; readonly answeredBy: AnsweredBy }
  /** A recording is complete and can be downloaded. */
  | {
      readonly kind: 'recording';
      readonly carrierCallId: string;
      readonly recordingId: string;
      readonly durationSeconds: number;
    }
  /** The month's spend has crossed a threshold set at the carrier. A null amount or time: the carrier does not report it. */
  | {
      readonly kind: 'usage';
      readonly spentRaw: bigint | null;
      readonly thresholdRaw: bigint | null;
      readonly firedAtMs: number | null;
    }
  /** A callback that changes nothing here. */
  | { readonly kind: 'ignored' };

/** The next thing that the carrier is to do with a call. */
export type Instruction =
  | { readonly kind: 'stream'; readonly callId: string }
  | { readonly kind: 'hang_up' }
  /** Refuses a call before it is answered, so that the call costs nothing. */
  | { readonly kind: 'reject'; readonly reason: 'busy' | 'rejected' };

export type CallbackAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
};

/** Callbacks of a carrier over HTTP, and the handshake of its media stream. */
export interface CarrierCallbacks {
  /** Returns true when the headers have a well-formed signature. The body of a request without such a signature is not read. */
  hasSignature(headers: CallbackRequest['headers']): boolean;
  /** Returns true when the carrier has signed the request. The answer to an unsigned request is 403. */
  isGenuine(request: CallbackRequest): boolean;
  /** Returns true when the carrier has signed the upgrade request of the media stream. */
  isGenuineUpgrade(request: Omit<CallbackRequest, 'body'>): boolean;
  /** Reads a callback. `hook` is the last segment of its path. Throws CallbackMalformed. */
  read(hook: string, request: CallbackRequest): CallbackEvent;
  /** Instructs the carrier by the returned response to an `answered` callback, or by an API call if it ignores responses. */
  instruct(
    event: Extract<CallbackEvent, { kind: 'answered' }>,
    instruction: Instruction,
  ): Promise<CallbackAnswer>;
  /** Returns the response to a `whisper` callback. Absent: the carrier sends no such callbacks. */
  readonly whisper?: (summary: string | null) => CallbackAnswer;
  /** Response to every other callback. */
  readonly acknowledgement: CallbackAnswer;
}

/** A message of a carrier's media stream. */
export type MediaEvent =
  | {
      readonly kind: 'started';
      readonly streamId: string;
      /** This server's id of the call. Undefined: the message has no such id. */
      readonly callId: string | undefined;
      readonly carrierCallId: string;
      readonly format: SoundFormat;
    }
  /** Sound of the peer. */
  | {
      readonly kind: 'media';
      /** Start of the sound, in milliseconds since the beginning of the stream. */
      readonly atMs: number;
      /** Encoded sound. The next message overwrites the event and its bytes, so a receiver copies them to keep them. */
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'digit'; readonly digit: string }
  /** The carrier has played all sound up to this mark, or has cleared it. */
  | { readonly kind: 'mark'; readonly name: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'ignored' };

/**
 * The messages of a carrier's media stream, for one connection. `read` throws CallbackMalformed for a message that is not of
 * this carrier, and reads at most `PHONE_LIMITS.media.messageBytes`.
 */
export interface MediaCodec {
  read(message: Uint8Array): MediaEvent;
  /** Encodes sound for the peer, in the format of the stream. */
  media(bytes: Uint8Array): string;
  mark(name: string): string;
  /** Returns a message that makes the carrier drop the sound that it has not played yet. */
  clear(): string;
}

export interface Carrier {
  readonly name: CarrierName;
  readonly numbers: CarrierNumbers;
  readonly calls: CarrierCalls;
  /** Callbacks of the carrier over HTTP. Undefined: the carrier runs in this process and sends none. */
  readonly callbacks: CarrierCallbacks | undefined;
  openMedia(): MediaCodec;
  /**
   * Simulates an incoming call for a test. Resolves with this server's id of the call, or undefined when the call was refused.
   * Undefined: the carrier has no simulated callers.
   */
  readonly ring?: ((parties: CallParties) => Promise<string | undefined>) | undefined;
  /**
   * Has the carrier call back with `usage` once a month's spend crosses `thresholdUsd`, in place of earlier thresholds;
   * undefined: at no amount. Repeating a call changes nothing. Absent: the carrier cannot do it.
   */
  readonly watchSpend?: ((thresholdUsd: number | undefined) => Promise<void>) | undefined;
}

/** Error of a carrier that did not carry out a request. */
export class CarrierFailed extends Error {
  override readonly name = 'CarrierFailed';
  /**
   * `taken`: another customer of the carrier has rented the number. `invalid`: there is no such number to call. `refused`: the
   * carrier did nothing, and the same request fails again. `away`: the carrier did not answer, and may have carried the request
   * out.
   */
  readonly kind: 'taken' | 'invalid' | 'refused' | 'away';
  /** Error code of the carrier. */
  readonly code: string | undefined;

  constructor(
    kind: CarrierFailed['kind'],
    message: string,
    options: ErrorOptions & { readonly code?: string | undefined } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.code = options.code;
  }
}

/** Thrown for a message that is not in the format of the carrier. */
export class CallbackMalformed extends Error {
  override readonly name = 'CallbackMalformed';
}
