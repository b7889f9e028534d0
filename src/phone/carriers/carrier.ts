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

/** A number that the carrier has sold to this server. */
export type CarrierNumber = { readonly carrierNumberId: string; readonly phoneNumber: string };

/** Numbers of a carrier. Throws CarrierFailed. */
export interface CarrierNumbers {
  /** Numbers that take calls and need no address on file, at most `limit`. */
  search(query: {
    readonly areaCode?: string | undefined;
    readonly phoneNumber?: string | undefined;
    /** Two letters; absent: the United States. */
    readonly country?: string | undefined;
    readonly limit: number;
  }): Promise<readonly OfferedNumber[]>;
  /** Buys a number, and keeps `purchaseId` beside it. Its calls come to this server. */
  buy(request: {
    readonly phoneNumber: string;
    readonly purchaseId: string;
  }): Promise<CarrierNumber>;
  /** Finds the number of a purchase whose answer was lost. Undefined when the purchase got none. */
  findPurchase(purchaseId: string): Promise<CarrierNumber | undefined>;
  /** Gives a number back. Resolves where the carrier does not know it any more. */
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
  /** Ours; comes back in every callback, and in the first message of the media stream. */
  readonly callId: string;
  readonly from: string;
  readonly to: string;
  readonly ringSeconds: number;
  readonly longestSeconds: number;
  /** The carrier listens for an answering machine and reports it while the call goes on. */
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

/** Two numbers in E.164. */
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
  /** `none`: it has none by now. `unsure`: it is not whole yet, or the carrier does not know the call any more. */
  | { readonly kind: 'none' | 'unsure'; readonly recordingId?: string | undefined };

/** Calls of a carrier. Throws CarrierFailed. */
export interface CarrierCalls {
  /** Resolves once the carrier has accepted the call. */
  dial(request: DialRequest): Promise<{ readonly carrierCallId: string }>;
  /** Ends a call in any state. Resolves where it is over already. */
  hangUp(carrierCallId: string): Promise<void>;
  /** Undefined: the carrier knows no such call. */
  find(carrierCallId: string): Promise<CarrierCall | undefined>;
  /** Plays keypad digits to the peer. The media stream comes back afterwards. */
  sendDigits(call: CarrierLeg, digits: string): Promise<void>;
  /** Connects the peer to another number. A failed transfer brings the media stream back. */
  transfer(call: CarrierLeg, order: TransferOrder): Promise<void>;
  /**
   * Records both sides from now on, each in a channel of its own. Resolves with the carrier's id of the recording;
   * undefined: `findRecording` or its callback brings it.
   */
  startRecording(call: CarrierLeg): Promise<string | undefined>;
  /** While it pauses the recording has silence, so that what is said or pressed is in none. */
  pauseRecording(call: CarrierLeg): Promise<void>;
  resumeRecording(call: CarrierLeg): Promise<void>;
  /** Resolves also where nothing is recorded, or the call is over. */
  stopRecording(call: CarrierLeg): Promise<void>;
  /** Finds the recording of a call, by `recordingId` when the id is known. */
  findRecording(call: CarrierLeg, recordingId: string | null): Promise<FoundRecording>;
  /**
   * A recording as WAV, at most `LIMITS.phone.recordingBytes`. Undefined: the carrier does not have it. What is streamed
   * rejects where the carrier breaks off.
   */
  fetchRecording(recordingId: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Resolves where the carrier does not have it any more. */
  deleteRecording(recordingId: string): Promise<void>;
}

/** The part of `CarrierCalls` that records. */
export type RecordingMethod = Extract<keyof CarrierCalls, `${string}Recording`>;
export type CarrierRecordings = Pick<CarrierCalls, RecordingMethod>;

/** A call by our id and the carrier's id. */
export type CarrierLeg = { readonly callId: string; readonly carrierCallId: string };

/** An HTTP request of a carrier, before it is believed. */
export type CallbackRequest = {
  /** As the carrier has called it: with the public origin of this server. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** Why a transfer came to nothing. */
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
      /** The media stream has been before: it broke, or digits or a transfer interrupted it. */
      readonly isAgain: boolean;
      /** Outcome of a failed transfer from which the call comes back. */
      readonly transferFailed?: FailedTransfer;
    }
  /** The person has answered to whom the call is transferred. */
  | { readonly kind: 'transferred'; readonly callId: string; readonly carrierCallId: string }
  /** The target of a transfer has answered: the carrier asks for the summary to read to them before it connects them. */
  | { readonly kind: 'whisper'; readonly callId: string }
  | {
      readonly kind: 'status';
      readonly callId: string | undefined;
      readonly carrierCallId: string;
      readonly status: CarrierStatus;
      /** Grows by the carrier's order of events. */
      readonly sequence: number;
      readonly durationSeconds: number | null;
      readonly priceRaw: bigint | null;
    }
  | { readonly kind: 'machine'; readonly carrierCallId: string; readonly answeredBy: AnsweredBy }
  /** A recording is whole, and can be fetched. */
  | {
      readonly kind: 'recording';
      readonly carrierCallId: string;
      readonly recordingId: string;
      readonly durationSeconds: number;
    }
  /** The carrier's spend of a month has crossed a threshold that was configured there. Null: the carrier does not say. */
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
  /** The call is refused before it is answered, and costs nothing. */
  | { readonly kind: 'reject'; readonly reason: 'busy' | 'rejected' };

export type CallbackAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
};

/** Callbacks of a carrier over HTTP, and the handshake of its media stream. */
export interface CarrierCallbacks {
  /** True where the headers have a well-formed signature. Without one the body is not read. */
  hasSignature(headers: CallbackRequest['headers']): boolean;
  /** Returns true when the carrier has signed the request. The answer to an unsigned request is 403. */
  isGenuine(request: CallbackRequest): boolean;
  /** Returns true when the carrier has signed the upgrade request of the media stream. */
  isGenuineUpgrade(request: Omit<CallbackRequest, 'body'>): boolean;
  /** `hook` is the last word of the path. Throws CallbackMalformed. */
  read(hook: string, request: CallbackRequest): CallbackEvent;
  /** Instructs the carrier in the answer of an `answered` callback, or by its API where it reads no answers. */
  instruct(
    event: Extract<CallbackEvent, { kind: 'answered' }>,
    instruction: Instruction,
  ): Promise<CallbackAnswer>;
  /** Answers a `whisper`. Absent: the carrier asks for none. */
  readonly whisper?: (summary: string | null) => CallbackAnswer;
  /** The answer to every other callback. */
  readonly acknowledgement: CallbackAnswer;
}

/** A message of a carrier's media stream. */
export type MediaEvent =
  | {
      readonly kind: 'started';
      readonly streamId: string;
      /** Ours; undefined: the message names no call. */
      readonly callId: string | undefined;
      readonly carrierCallId: string;
      readonly format: SoundFormat;
    }
  /** Sound of the peer. */
  | {
      readonly kind: 'media';
      /** Milliseconds of the stream at which it begins. */
      readonly atMs: number;
      /** The next message overwrites the event and its bytes: copy what must be kept. */
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'digit'; readonly digit: string }
  /** Everything up to this mark has been played, or was cleared. */
  | { readonly kind: 'mark'; readonly name: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'ignored' };

/**
 * The messages of a carrier's media stream, for one connection. `read` throws CallbackMalformed for a message that is not of
 * this carrier, and reads at most `LIMITS.phone.mediaMessageBytes`.
 */
export interface MediaCodec {
  read(message: Uint8Array): MediaEvent;
  /** Encodes sound for the peer, in the format of the stream. */
  media(bytes: Uint8Array): string;
  mark(name: string): string;
  /** Empties what the carrier has and has not played. */
  clear(): string;
}

export interface Carrier {
  readonly name: CarrierName;
  readonly numbers: CarrierNumbers;
  readonly calls: CarrierCalls;
  /** Undefined: the carrier lives in this process and calls no HTTP. */
  readonly callbacks: CarrierCallbacks | undefined;
  openMedia(): MediaCodec;
  /**
   * A stranger calls a number of this server, to try it. Resolves with our name of the call, or undefined where it was
   * refused. Undefined: the carrier has real callers only.
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
  /** The carrier's own code. */
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

/** A message that its carrier would not send. */
export class CallbackMalformed extends Error {
  override readonly name = 'CallbackMalformed';
}
