import { HEARING_FRAME, lineHzOf } from '../../../media/hearing.ts';
import { FrameDecoder } from '../../../media/line/frame-decoder.ts';
import { RecentSound } from '../../../media/recent-sound.ts';
import type { VadEvent } from '../../../media/vad.ts';
import { type Transcript, type TurnSign, UtteranceLost } from '../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../engines/limits.ts';
import type { VoiceDetector } from '../../engines/vad/vad-detector.ts';
import type { Clock } from '../../kernel/clock.ts';
import { FRAME_MS, mostLeadOf, openDetector } from './open-detector.ts';
import { asError, RecogniserQueue } from './recogniser-queue.ts';
import type { TranscriberEvents } from './transcriber-events.ts';
import type { TranscriberOptions } from './transcriber-options.ts';
import { heardOf, newUtterance, nextSegment, type Utterance, wordsSoFar } from './utterance.ts';
import { UtteranceSilence } from './utterance-silence.ts';

/** Frames passed to the recogniser at a time: as many as a decoder takes at once, because each call has a cost of its own. */
const GATHERED_FRAMES = ENGINE_LIMITS.decoder.postMs / FRAME_MS;
const MOST_UTTERANCE_MS = ENGINE_LIMITS.utterance.committedSeconds * 1_000;

/** Turns a stream's bytes into utterances: decode → VAD → 16 kHz → recogniser. Keeps only a short lead before speech. */
export class Transcriber {
  // Fields that every audio frame uses come first (docs/decisions/0109).
  #closed = false;
  readonly #decoder: FrameDecoder;
  readonly #sound: RecentSound;
  readonly #detector: VoiceDetector | undefined;
  #utterance: Utterance | undefined;
  /** Frames before the start of speech that an utterance may include: the maximum, and the number available now. */
  readonly #mostLead: number;
  #lead = 0;
  #frames = 0;
  /** Number of frames of the utterance that were not passed to its recogniser yet. */
  #gathered = 0;
  readonly #clock: Clock;
  readonly #events: TranscriberEvents;
  /** Utterances that have ended and are being decoded, oldest first. */
  readonly #ending: Utterance[] = [];
  readonly #queue: RecogniserQueue;
  readonly #silence: UtteranceSilence;

  constructor(options: TranscriberOptions) {
    const { endpointing, events, openStt } = options;
    this.#clock = options.clock;
    this.#events = events;
    this.#silence = new UtteranceSilence({
      leastMs: endpointing?.silenceDurationMs ?? 0,
      after: options.silenceAfter,
      turns: options.turns,
    });
    this.#queue = new RecogniserQueue({
      open: openStt,
      transcript: (transcript) => this.#transcript(transcript),
      turn: (sign) => this.#told(sign),
      lost: (error) => this.#lost(error),
      failed: (error) => events.failed(error),
    });
    this.#mostLead = mostLeadOf(endpointing);
    const { encoding, sampleRateHz } = options;
    const keepSamples = this.#mostLead * HEARING_FRAME;
    this.#sound = new RecentSound({ lineHz: lineHzOf(sampleRateHz), keepSamples });
    this.#decoder = new FrameDecoder({ encoding, sampleRateHz, listener: this });
    this.#detector = openDetector(options, {
      sound: this.#sound,
      silenceDurationMs: () => this.#silence.ms,
      onEvent: (event) => this.#turn(event),
    });
  }

  push(bytes: Uint8Array): void {
    if (!this.#closed) this.#decoder.push(bytes);
  }

  /** Milliseconds of audio in the utterance in progress. */
  get pendingMs(): number {
    return (this.#utterance?.frames ?? 0) * FRAME_MS;
  }

  /**
   * Returns the longest audio that can still be transcribed, in milliseconds: the utterance (or the lead-in of the next
   * utterance) and part of a frame.
   */
  get unheardMs(): number {
    return ((this.#utterance?.frames ?? this.#lead) + 1) * FRAME_MS;
  }

  /**
   * Ends the utterance here; returns false when no utterance is in progress. `asked` is true when the client requested the end.
   */
  commit({ asked = true } = {}): boolean {
    if (this.#utterance === undefined) return false;
    this.#detector?.reset();
    this.#end({ asked });
    return true;
  }

  /** Milliseconds of audio since the stream began. */
  get nowMs(): number {
    return Math.round(this.#frames * FRAME_MS);
  }

  /** Drops the utterance in progress. */
  clear(): void {
    this.#lead = 0;
    this.#detector?.reset();
    if (this.#utterance === undefined) return;
    this.#utterance.dropped = true;
    this.#utterance.waiting.length = 0;
    this.#events.resumed?.();
    this.#end();
  }

  /** Ends the stream. Resolves when all audio is transcribed. */
  async finish(): Promise<void> {
    this.#decoder.flush();
    this.#detector?.reset();
    this.#end();
    await this.#queue.done;
  }

  /** Resolves when every utterance that has ended is transcribed. */
  async transcribed(): Promise<void> {
    await this.#queue.done;
  }

  /** True while an utterance is in progress. */
  get isHearing(): boolean {
    return this.#utterance !== undefined;
  }

  /** True while an utterance that has ended is being transcribed. */
  get isTranscribing(): boolean {
    return this.#ending.length > 0;
  }

  /** True while the caller speaks or speech is being transcribed. */
  get isBusy(): boolean {
    return this.isHearing || this.isTranscribing;
  }

  /** Drops the utterance in progress, and closes the stream once the utterances that have ended are transcribed. */
  async retire(): Promise<void> {
    this.clear();
    this.#detector?.close();
    await this.#queue.done;
    this.close();
  }

  close(): void {
    this.#closed = true;
    this.#detector?.close();
    this.#queue.release();
  }

  /** Processes the next 20 ms frame of the intake. */
  frame(frame: Int16Array): void {
    if (this.#closed) return;
    this.#frames += 1;
    this.#sound.push(frame);
    if (this.#detector === undefined && this.#utterance === undefined) this.#begin(this.nowMs);
    if (this.#utterance !== undefined) this.#hear(this.#utterance);
    else if (this.#lead < this.#mostLead) this.#lead += 1;
    this.#detector?.push(frame);
    if (this.#utterance === undefined || this.pendingMs < MOST_UTTERANCE_MS) return;
    this.#detector?.reset();
    this.#end({ isCut: true });
  }

  #turn(event: VadEvent): void {
    if (this.#closed) return;
    switch (event.kind) {
      case 'speech_stopped':
        this.#end({ silenceMs: event.endMs - event.lastVoiceMs });
        break;
      case 'speech_started':
        if (this.#utterance === undefined) this.#begin(event.startMs);
        break;
      case 'speech_paused':
        this.#paused();
        break;
      case 'speech_resumed':
        this.#resumed();
        break;
    }
  }

  /** Sends `paused` with the words up to now once the recogniser has decoded them, unless the caller speaks on before that. */
  #paused(): void {
    const utterance = this.#utterance;
    if (utterance === undefined) return;
    this.#passGathered(utterance);
    utterance.isPausing = true;
    this.#queue.after(() => this.#reportPause(utterance));
  }

  #reportPause(utterance: Utterance): void {
    if (this.#utterance !== utterance || !utterance.isPausing || this.#closed) return;
    const text = wordsSoFar(utterance);
    // Some recognisers report no words before the end of an utterance.
    if (text !== '') this.#events.paused?.(text);
  }

  #resumed(): void {
    if (this.#utterance !== undefined) this.#utterance.isPausing = false;
    this.#events.resumed?.();
  }

  /** Begins an utterance at `startMs`. The frames since then are still kept. */
  #begin(startMs: number): void {
    const frames = Math.round((this.nowMs - startMs) / FRAME_MS);
    const lead = Math.max(0, Math.min(frames, this.#lead));
    this.#lead = 0;
    const beganMs = this.nowMs - lead * FRAME_MS;
    const utterance = newUtterance(beganMs);
    this.#utterance = utterance;
    this.#silence.begin(this.#queue.takesTurns);
    this.#events.began(beganMs);
    utterance.frames = lead;
    this.#gathered = lead;
    this.#passGathered(utterance);
  }

  #hear(utterance: Utterance): void {
    utterance.frames += 1;
    this.#gathered += 1;
    if (this.#gathered >= GATHERED_FRAMES) this.#passGathered(utterance);
  }

  #passGathered({ dropped, failed, waiting }: Utterance): void {
    const samples = this.#gathered * HEARING_FRAME;
    this.#gathered = 0;
    if (samples === 0 || dropped || failed) return;
    this.#queue.hear(this.#sound.newest(samples), waiting);
  }

  /** Ends the utterance in progress. `silenceMs` is the silence that proved the end; 0 for an end without silence. */
  #end({ silenceMs = 0, asked = false, isCut = false } = {}): void {
    const utterance = this.#utterance;
    if (utterance === undefined) return;
    this.#passGathered(utterance);
    this.#utterance = undefined;
    this.#ending.push(utterance);
    const endedAtMs = this.#clock.monotonicMs() - silenceMs;
    const heardMs = Math.round(utterance.frames * FRAME_MS);
    const voiceEndMs = this.nowMs - silenceMs;
    if (!utterance.dropped) this.#events.ended(this.nowMs, heardMs);
    if (!utterance.failed) {
      this.#queue.next((stream) =>
        utterance.dropped && stream.dropUtterance !== undefined
          ? stream.dropUtterance()
          : stream.endUtterance().catch((error: unknown) => this.#missed(utterance, error)),
      );
    }
    const report = () => {
      this.#ending.shift();
      if (this.#closed) return;
      if (utterance.dropped) {
        this.#events.forgotten?.();
        return;
      }
      const latencyMs = Math.round(this.#clock.monotonicMs() - endedAtMs);
      const nextBeganMs = (this.#ending[0] ?? this.#utterance)?.beganMs ?? Infinity;
      const silentMs = Math.min(latencyMs, Math.max(0, nextBeganMs - voiceEndMs));
      const heard = heardOf(utterance, { asked, isCut, heardMs, latencyMs, silentMs, voiceEndMs });
      // `resumed` is sent because an utterance without words gets no answer.
      if (heard.text === '') this.#events.resumed?.();
      this.#events.heard(heard);
    };
    this.#queue.after(report);
  }

  /** Marks an utterance as failed after the recogniser lost it; rethrows other errors. The recogniser stays open. */
  #missed(utterance: Utterance, error: unknown): void {
    if (!(error instanceof UtteranceLost)) throw error;
    utterance.failed = true;
    if (!this.#closed) this.#events.failed(asError(error.cause));
  }

  /** Marks the utterances that wait for a lost recogniser as failed. */
  #lost(error: Error): void {
    for (const utterance of this.#ending) utterance.failed = true;
    if (this.#utterance !== undefined) this.#utterance.failed = true;
    if (!this.#closed) this.#events.failed(error);
  }

  #transcript(transcript: Transcript): void {
    const { text, isFinal } = transcript;
    const ending = this.#ending[0];
    const utterance = ending ?? this.#utterance;
    if (utterance === undefined || utterance.dropped) return;
    if (isFinal && text !== '') utterance.segments.push(transcript);
    if (ending !== undefined) {
      this.#events.working?.();
      return;
    }
    const segment = nextSegment(utterance, transcript, this.nowMs);
    if (text === '') return;
    utterance.isTurnOver = false;
    this.#silence.heard(() => wordsSoFar(utterance), this.#queue.takesTurns);
    this.#events.segment(segment);
  }

  /** Handles a sign of the recogniser about the turn in progress. */
  #told(sign: TurnSign): void {
    const utterance = this.#utterance;
    if (utterance === undefined || this.isTranscribing || !this.#silence.told(sign)) return;
    utterance.isTurnOver = sign === 'over';
    utterance.isPausing = sign !== 'resumed';
    if (sign === 'likely_over') this.#reportPause(utterance);
    else if (sign === 'resumed') this.#events.resumed?.();
  }
}
