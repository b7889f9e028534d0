import type { RestRequest } from './rest.ts';

/**
 * How the far side of a call behaves. Times are milliseconds of the carrier's clock from the answer on, but for what it
 * says and presses: those count from its first media stream on, so that no word is lost to a server that is slow.
 */
export type Callee = {
  /** `human` where nothing is said. */
  readonly answers?: AnsweredBy | 'busy' | 'no-answer' | 'failed' | 'invalid';
  /** How long it rings before that; one that does not answer, as long as the server lets it by default. */
  readonly ringMs?: number;
  /** Sound in mu-law at 8 kHz; between its pieces the line is silent. */
  readonly says?: readonly { readonly atMs: number; readonly bytes: Uint8Array }[];
  readonly presses?: readonly { readonly atMs: number; readonly digit: string }[];
  readonly hangsUpAtMs?: number;
  /** When the carrier knows who has answered. */
  readonly recognisedAtMs?: number;
  /** How its line is streamed; Telnyx alone has other lines than 20 ms of PCMU. */
  readonly line?: { readonly encoding?: 'PCMU' | 'PCMA' | 'L16'; readonly chunkMs?: number };
  /** What the carrier does wrong with this call, in the place of what it does with all. */
  readonly faults?: Partial<Faults>;
};

export type AnsweredBy =
  | 'human'
  | 'machine_start'
  | 'machine_end_beep'
  | 'machine_end_silence'
  | 'machine_end_other'
  | 'fax'
  | 'unknown';

/** What the carrier does wrong, and may be changed while it runs. */
export type Faults = {
  /** Each callback comes twice. */
  duplicatesCallbacks: boolean;
  /** Of two status callbacks the later comes first. */
  reordersCallbacks: boolean;
  /** A forged callback comes before each genuine one. */
  forgesCallbacks: boolean;
  /** No status callback comes at all: media without callback. */
  losesStatusCallbacks: boolean;
  /** The media stream is never opened: callback without media. */
  opensNoStream: boolean;
  /** The socket of the stream breaks so long after its begin; once. */
  dropsSocketAtMs: number | undefined;
  /** The socket of Twilio's stream is lost so long after its begin, and the server is not told: nothing more comes; once. */
  losesSocketAtMs: number | undefined;
  /** No frame of sound comes any more so long after the begin of Twilio's stream, which stands on; nor is a mark echoed. */
  stopsSoundAtMs: number | undefined;
  /** Frames of sound overtake each other. */
  reordersFrames: boolean;
  /** Marks come back so much later than they are played. */
  markDelayMs: number;
  /** Each mark comes back twice. */
  doublesMarks: boolean;
  /** So many attempts to end a call are answered 503. */
  failsHangUps: number;
  /** So many purchases are carried out and not answered. */
  losesPurchaseAnswers: number;
  /** So many calls are placed and not answered. */
  losesDialAnswers: number;
  /** A call has its price so long after its end. */
  priceDelayMs: number;
};

export const NO_FAULTS: Faults = {
  duplicatesCallbacks: false,
  reordersCallbacks: false,
  forgesCallbacks: false,
  losesStatusCallbacks: false,
  opensNoStream: false,
  dropsSocketAtMs: undefined,
  losesSocketAtMs: undefined,
  stopsSoundAtMs: undefined,
  reordersFrames: false,
  markDelayMs: 0,
  doublesMarks: false,
  failsHangUps: 0,
  losesPurchaseAnswers: 0,
  losesDialAnswers: 0,
  priceDelayMs: 0,
};

export type CarrierSimOptions = {
  readonly accountSid?: string;
  readonly authToken?: string;
  /** 0: one that the system chooses. */
  readonly port?: number;
  /** The numbers that are for sale. */
  readonly numbers?: readonly string[];
  /** Who is there at a number that is called or transferred to. */
  readonly callee?: (call: { readonly from: string; readonly to: string }) => Callee;
  /** How many times faster than real time the carrier's clock runs. */
  readonly speed?: number;
  readonly faults?: Partial<Faults>;
  /** Hears of each request of the API before it is carried out and before it is answered, and may hold it there. */
  readonly onRequest?: (step: 'asked' | 'done', request: RestRequest) => Promise<void> | undefined;
  /** Where a public address of the server is reached from here. The signature is that of the public one. */
  readonly reach?: (url: string) => string;
};

export const SIM_ACCOUNT = { accountSid: `AC${'5'.repeat(32)}`, authToken: 'the token of the sim' };
