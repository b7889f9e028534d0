/**
 * Detects when the caller speaks, in two stages. A cheap gate evaluates every 20 ms frame at once; while the gate is open or a
 * turn lasts, a model evaluates windows and its probability arrives later. When the model does not answer in time, the gate
 * decides. There is no clock: time is the audio received.
 */
import { CrowdWatch } from './crowd-watch.ts';
import { HEARING_FRAME, HEARING_HZ, HEARING_WINDOW } from './hearing.ts';
import { NoiseFloor } from './noise-floor.ts';
import { energy } from './pcm.ts';

const VAD_FRAME_MS = (HEARING_FRAME * 1_000) / HEARING_HZ;
/** Milliseconds of audio that one probability covers. */
const VAD_WINDOW_MS = (HEARING_WINDOW * 1_000) / HEARING_HZ;

export type VadOptions = {
  /** Probability of speech, from 0 to 1, from which sound counts as speech. */
  readonly threshold: number;
  /** Milliseconds of sound before the first speech that belong to the turn. */
  readonly prefixPaddingMs: number;
  /**
   * Milliseconds of silence that end a turn. A function is called for every frame, because the transcript so far may change
   * it.
   */
  readonly silenceDurationMs: number | (() => number);
  /** Milliseconds of silence after which `speech_paused` is reported. Absent: it is never reported. */
  readonly pauseMs?: number;
  /** Milliseconds to wait for the model's answer before the gate decides; 0 when there is no model. */
  readonly answerWithinMs: number;
};

/** Defaults of `server_vad` in the realtime protocol. */
const SERVER_VAD: VadOptions = {
  threshold: 0.5,
  prefixPaddingMs: 300,
  silenceDurationMs: 500,
  answerWithinMs: 160,
};

/** Gate that returns true when a frame of 20 ms has the shape of speech. */
export type FrameGate = { isSpeech(samples: Int16Array): boolean };

export type VadEvent =
  /** A turn began. Its sound begins at `startMs`, prefix padding included. */
  | { readonly kind: 'speech_started'; readonly startMs: number }
  /** A turn ended. Its sound ends at `endMs`, closing silence included; the last speech was at `lastVoiceMs`. */
  | { readonly kind: 'speech_stopped'; readonly endMs: number; readonly lastVoiceMs: number }
  /** The turn has probably ended (`speech_paused`), or continues after all (`speech_resumed`). */
  | { readonly kind: 'speech_paused' | 'speech_resumed' };

/** Amount by which the threshold falls during speech, because the model is less certain where words fade out. */
const HYSTERESIS = 0.15;
/** Loud frames among the last eight with which the gate starts a turn without the model. */
const GATE_FRAMES_TO_START = 4;
const ANSWERS_TO_START = 2;
/** Milliseconds after the gate has closed during which the model still evaluates windows. */
const ASK_AFTER_GATE_MS = 320;
/** Longest time in milliseconds from a turn's begin to its detection, however long the noise before it was. */
const ONSET_REACH_MS = 240;
/** The gate hears every fourth of the frames that are too quiet for speech: enough to learn the noise of the line. */
const QUIET_FRAMES_A_LESSON = 4;
/**
 * Milliseconds from a turn's begin during which all speech on a crowded line counts as the caller's, unless a voice has exceeded
 * the crowd. A caller may be no louder than the crowd.
 */
const CROWD_TURN_MS = 3_000;
/** Upper bound of the silence that ends a turn on a crowded line, in milliseconds. The last words may be of the crowd. */
const CROWD_SILENCE_MS = 700;
/** Time long before any sound. It is a whole number because V8 allocates a field that may hold fractions at every write. */
const NEVER = -1_000_000_000;

/** Detects the turns of one listener. Feed `frame` every 20 ms and `probability` whenever the model has answered. */
export class TurnDetector {
  readonly #options: VadOptions;
  readonly #isModelAsked: boolean;
  readonly #floor = new NoiseFloor();
  readonly #crowd = new CrowdWatch();
  #startedMs = NEVER;
  /** True when a voice has stood out of the crowd of the line in the current turn. */
  #hasStoodOut = false;
  #nowMs = 0;
  #speaking = false;
  #isPausing = false;
  /** Results of the gate for the last eight frames as bits, newest in the lowest bit. */
  #verdicts = 0;
  #quietFrames = 0;
  #gateMs = NEVER;
  /** Time at which the loud stretch began that may become a turn. */
  #onsetMs = NEVER;
  #askedSinceMs = NEVER;
  #answeredMs = NEVER;
  #yesInARow = 0;
  #lastVoiceMs = NEVER;
  #lastEndMs = 0;
  #gateDecisions = 0;

  constructor(options: Partial<VadOptions> = {}) {
    this.#options = { ...SERVER_VAD, ...options };
    this.#isModelAsked = this.#options.answerWithinMs > 0;
  }

  /** Milliseconds of sound that have been heard. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get speaking(): boolean {
    return this.#speaking;
  }

  /** Number of turns that began or ended without an answer of the model although one was expected. */
  get gateDecisions(): number {
    return this.#gateDecisions;
  }

  /** True when the model is to judge the newest sound. */
  get wantsProbability(): boolean {
    if (!this.#isModelAsked) return false;
    return this.#speaking || this.#nowMs - this.#gateMs <= ASK_AFTER_GATE_MS;
  }

  /**
   * Takes the next 20 ms at any rate. `gate` recognises the shape of speech; without a gate, loudness over the line's noise
   * decides alone. The gate gets all audio above that noise, and some quieter audio except digital silence, from which it
   * learns the line's noise.
   */
  frame(samples: Int16Array, gate?: FrameGate): VadEvent | undefined {
    const wanted = this.wantsProbability;
    const loudness = energy(samples);
    const standsOut = this.#floor.standsOut(loudness);
    this.#crowd.hear(loudness);
    const isLesson =
      !standsOut && loudness > 0 && ++this.#quietFrames % QUIET_FRAMES_A_LESSON === 0;
    const isSpeech = gate === undefined || ((standsOut || isLesson) && gate.isSpeech(samples));
    const loud = standsOut && isSpeech;
    const frameStartMs = this.#nowMs;
    this.#nowMs += VAD_FRAME_MS;
    this.#verdicts = ((this.#verdicts << 1) | (loud ? 1 : 0)) & 0xff;
    if (loud) {
      if (this.#gateMs < frameStartMs - ASK_AFTER_GATE_MS) this.#onsetMs = frameStartMs;
      this.#gateMs = this.#nowMs;
    }
    if (!wanted && this.wantsProbability) {
      this.#askedSinceMs = frameStartMs;
      this.#yesInARow = 0;
    }
    return this.#speaking ? this.#whileSpeaking(loud) : this.#whileSilent(loud);
  }

  /**
   * Takes the model's answer for the window that ended at `endMs`, in order. NaN means that the model did not answer in time.
   */
  probability(value: number, endMs: number): VadEvent | undefined {
    if (Number.isNaN(value) || !(endMs > this.#answeredMs) || endMs > this.#nowMs) return undefined;
    this.#answeredMs = endMs;
    const needed = this.#speaking ? this.#options.threshold - HYSTERESIS : this.#options.threshold;
    if (value < needed) {
      this.#yesInARow = 0;
      return undefined;
    }
    this.#yesInARow++;
    if (this.#speaking) {
      if (this.#isCaller()) this.#lastVoiceMs = Math.max(this.#lastVoiceMs, endMs);
      return undefined;
    }
    if (this.#yesInARow < ANSWERS_TO_START || endMs <= this.#lastEndMs) return undefined;
    const heardFromMs = endMs - ANSWERS_TO_START * VAD_WINDOW_MS;
    return this.#start(Math.min(this.#onsetMs, heardFromMs), endMs);
  }

  /** Forgets a turn in progress, for example when the audio was committed or cleared by the client. */
  reset(): void {
    this.#speaking = false;
    this.#verdicts = 0;
    this.#gateMs = NEVER;
    this.#onsetMs = NEVER;
    this.#yesInARow = 0;
    this.#lastEndMs = this.#nowMs;
  }

  #whileSilent(loud: boolean): VadEvent | undefined {
    if (!loud || this.#modelAnswers() || bitsIn(this.#verdicts) < GATE_FRAMES_TO_START) {
      return undefined;
    }
    this.#countGateDecision();
    return this.#start(this.#onsetMs, this.#nowMs);
  }

  #whileSpeaking(loud: boolean): VadEvent | undefined {
    const modelAnswers = this.#modelAnswers();
    if (loud && !modelAnswers && this.#isCaller()) this.#lastVoiceMs = this.#nowMs;
    const { silenceDurationMs } = this.#options;
    const setMs = typeof silenceDurationMs === 'number' ? silenceDurationMs : silenceDurationMs();
    const silenceMs = this.#crowd.isCrowded ? Math.min(setMs, CROWD_SILENCE_MS) : setMs;
    if (this.#nowMs - this.#lastVoiceMs < silenceMs) return this.#whilePausing();
    // A loud frame that the model has not evaluated yet may turn out to be speech.
    const judgedMs = this.#answeredMs - this.#lastVoiceMs;
    const unjudged = this.#gateMs > this.#answeredMs && judgedMs < silenceMs;
    if (modelAnswers && unjudged) return undefined;
    if (!modelAnswers) this.#countGateDecision();

    this.#speaking = false;
    this.#yesInARow = 0;
    this.#lastEndMs = this.#nowMs;
    return { kind: 'speech_stopped', endMs: this.#nowMs, lastVoiceMs: this.#lastVoiceMs };
  }

  #whilePausing(): VadEvent | undefined {
    const { pauseMs } = this.#options;
    if (pauseMs === undefined) return undefined;
    const isPausing = this.#nowMs - this.#lastVoiceMs >= pauseMs;
    if (isPausing === this.#isPausing) return undefined;
    this.#isPausing = isPausing;
    return { kind: isPausing ? 'speech_paused' : 'speech_resumed' };
  }

  #start(onsetMs: number, voiceMs: number): VadEvent {
    this.#speaking = true;
    this.#isPausing = false;
    this.#hasStoodOut = false;
    this.#startedMs = voiceMs;
    this.#lastVoiceMs = voiceMs;
    const padded = Math.max(onsetMs, voiceMs - ONSET_REACH_MS) - this.#options.prefixPaddingMs;
    return { kind: 'speech_started', startMs: Math.max(this.#lastEndMs, padded, 0) };
  }

  /** Returns false when the sound that counts as speech is that of the crowd behind the caller. */
  #isCaller(): boolean {
    if (!this.#crowd.isCrowded) return true;
    if (this.#crowd.isNear) this.#hasStoodOut = true;
    else if (this.#hasStoodOut) return false;
    return this.#crowd.isNear || this.#nowMs - this.#startedMs < CROWD_TURN_MS;
  }

  /** Returns true when the model keeps up: it answered, or the wait for its answer began, at most `answerWithinMs` ago. */
  #modelAnswers(): boolean {
    const { answerWithinMs } = this.#options;
    if (answerWithinMs === 0) return false;
    return this.#nowMs - Math.max(this.#answeredMs, this.#askedSinceMs) <= answerWithinMs;
  }

  #countGateDecision(): void {
    if (this.#options.answerWithinMs > 0) this.#gateDecisions++;
  }
}

function bitsIn(byte: number): number {
  let count = 0;
  for (let bits = byte; bits !== 0; bits &= bits - 1) count++;
  return count;
}
