import {
  type TurnCause,
  type TurnEffects,
  type VoiceTurnEvent,
  voiceTurnMachine,
} from '../../../machines/voice-turn.ts';
import { LightSignal } from '../../kernel/light-signal.ts';
import { outputCapOf, SPOKEN_TOKEN_MS, spokenCharsOf } from '../billing/turn-meter.ts';
import { VOICE_LIMITS } from '../limits.ts';
import { FlatActor } from '../live/flat-actor.ts';
import { type Passage, SpeechParts } from '../speech-text/speech-parts.ts';
import { SpokenChars } from '../speech-text/spoken-chars.ts';
import { spokenMsOf } from './heard-words.ts';
import { Passages } from './passages.ts';
import { type SpeechDeltas, SpeechEncoder } from './speech-encoder.ts';
import { type BrokenCall, type LlmPiece, type LlmReply, StageFailed } from './voice-pipeline.ts';
import type { VoiceTurnOptions } from './voice-turn-options.ts';

const BROKE: TurnCause = { kind: 'failed', code: 'server_error', message: 'The turn broke.' };

type Call = Extract<LlmPiece, { kind: 'call' }>;

/** One answer in progress: from the conversation through the LLM and the TTS, sentence by sentence, to deltas of audio. */
export class VoiceTurn {
  readonly #options: VoiceTurnOptions;
  readonly #actor: FlatActor<typeof voiceTurnMachine>;
  readonly #startedAtMs: number;
  readonly #stopped = new LightSignal();
  readonly #outputCap: number;
  readonly #passages = new Passages();
  readonly #chars = new SpokenChars();
  readonly #calls: Call[] = [];
  readonly #broken: BrokenCall[] = [];
  #reply: LlmReply | undefined;
  #encoder: SpeechEncoder | undefined;
  #sent = '';
  #spokenMs = 0;
  #replyMs: number | undefined;
  #firstAudioMs: number | undefined;
  #isReported = false;

  constructor(options: VoiceTurnOptions) {
    const { cap, clock, config } = options;
    this.#options = options;
    this.#startedAtMs = clock.monotonicMs();
    this.#outputCap = outputCapOf(cap, config);
    const effects: TurnEffects = {
      generate: () => this.#attempt(this.#generate()),
      speak: () => this.#attempt(this.#speak(), 'voice'),
      stop: () => this.#stopped.fire(),
      finish: (cause) => this.#finish(cause),
    };
    this.#actor = new FlatActor(voiceTurnMachine, { clock, input: { effects } });
    this.#actor.subscribe({ error: (error) => this.#broke(error) });
  }

  start(): void {
    const { answer, client } = this.#options;
    client.batch(() => answer.created());
    this.#actor.start();
  }

  /** Ends the turn at once: reports the usage so far, and makes no further requests. */
  interrupt(reason: 'turn_detected' | 'client_cancelled'): void {
    this.#send({ type: 'turn.interrupted', reason });
  }

  fail(code: string, message: string, stage?: 'voice'): void {
    this.#send({ type: 'engine.failed', code, message, ...(stage && { stage }) });
  }

  /** Returns the characters spoken since the last call. */
  takeSpokenChars(): number {
    return this.#chars.take();
  }

  async #generate(): Promise<void> {
    const { llm, config, isPrompt } = this.#options;
    const items = await this.#options.items();
    if (this.#isStopped) return;
    const signal = this.#stopped;
    const reply = llm.reply({ config, items, isPrompt, outputCap: this.#outputCap, signal });
    this.#reply = reply;
    const { isForReading = false } = reply;
    const parts = new SpeechParts({ isForReading, language: config.transcriptionLanguage });
    const isText = config.outputModality === 'text';
    let chars = 0;
    for (let piece = await reply.next(); piece !== undefined; piece = await reply.next()) {
      if (this.#isStopped) return;
      if (this.#replyMs === undefined) this.#options.trace?.token();
      if (piece.kind === 'call' || piece.kind === 'broken') {
        this.#say(parts.end());
        this.#call(piece);
        continue;
      }
      if (piece.kind === 'pause') {
        this.#say(parts.pause(piece.isLong));
        continue;
      }
      chars += piece.text.length;
      if (chars > VOICE_LIMITS.realtime.replyChars) {
        this.#ready();
        return this.#send({ type: 'output.cut', reason: 'max_output_tokens' });
      }
      this.#say(isText ? [{ text: piece.text, spoken: '' }] : parts.push(piece.text));
    }
    if (this.#isStopped) return;
    this.#say(parts.end());
    this.#passages.end();
    this.#ready();
  }

  /** Passes a function call to the client, after the words before it have been spoken. */
  #call(call: Call | BrokenCall): void {
    if (call.kind === 'broken') this.#broken.push(call);
    else if (this.#passages.isEmpty) this.#options.answer.callFunction(call);
    else this.#calls.push(call);
  }

  #say(passages: readonly Passage[]): void {
    for (const passage of passages) this.#passages.push(passage);
    if (passages.length > 0) this.#ready();
  }

  /** Reports once that the first words are known, or that the answer has no words. */
  #ready(): void {
    if (this.#replyMs !== undefined) return;
    this.#replyMs = this.#sinceStart();
    this.#send({ type: 'reply.ready' });
  }

  async #speak(): Promise<void> {
    const { answer, config } = this.#options;
    const isText = config.outputModality === 'text';
    let isFull = false;
    for (let passage = await this.#passages.next(); passage !== undefined && !isFull; ) {
      if (this.#isStopped) return;
      if (answer.messageId === undefined) answer.beginMessage();
      if (isText) this.#write(passage.text);
      else isFull = await this.#speakPassage(passage);
      if (this.#isStopped) return;
      if (!isFull) passage = await this.#passages.next();
    }
    if (this.#isStopped) return;
    const reason = isFull ? 'max_output_tokens' : this.#reply?.cut;
    for (const broken of this.#broken) answer.breakCall(broken);
    if (reason !== undefined) return this.#send({ type: 'output.cut', reason });
    if (this.#calls.length > 0) answer.endMessage(undefined, this.#sent);
    for (const call of this.#calls) answer.callFunction(call);
    this.#send({ type: 'speech.finished' });
  }

  #write(text: string): void {
    this.#sent += text;
    this.#options.answer.text(text);
  }

  /** Speaks a passage and returns true when the output cap cut it short. The written text goes out with the first sound. */
  async #speakPassage({ spoken, text: written }: Passage): Promise<boolean> {
    const { answer, cap, config, voice } = this.#options;
    const signal = this.#stopped;
    const { speed, outputFormat } = config;
    if (spoken === '') {
      this.#writeSpoken(written, '');
      return false;
    }
    // The TTS bills the requested text, so its characters are checked before the request.
    if (this.#chars.total + spoken.length > spokenCharsOf(cap)) return true;
    this.#encoder ??= new SpeechEncoder(outputFormat);
    const speech = voice.speak({ text: spoken, voice: config.voice, speed, signal });
    let unwritten = written;
    try {
      for await (const { pcm, sampleRateHz, text } of speech) {
        if (this.#isStopped) return false;
        if (this.#firstAudioMs === undefined) this.#options.trace?.sound();
        const pieceMs = (pcm.length / sampleRateHz) * 1_000;
        if (this.#spokenMs + pieceMs > this.#capMs) return true;
        // The piece is already charged, so it is sent, whole or until an interruption.
        this.#spokenMs += pieceMs;
        if (text !== '') {
          if (!(await this.#sendAll(this.#encoder.end()))) return false;
          this.#chars.begins(text);
          if (spoken === written) this.#writeSpoken(text, text);
          else if (unwritten !== '') this.#writeSpoken(unwritten, spoken);
          unwritten = '';
        }
        this.#chars.lasted(pieceMs);
        answer.spoken.lasted(pieceMs);
        if (!(await this.#sendAll(this.#encoder.piece(pcm, sampleRateHz)))) return false;
      }
    } catch (error) {
      this.#chars.broke(speed);
      throw error;
    }
    answer.spoken.ended();
    await this.#sendAll(this.#encoder.end());
    return false;
  }

  /** Sends the written form of a passage whose `spoken` form is about to be heard. */
  #writeSpoken(text: string, spoken: string): void {
    this.#options.answer.spoken.begin(text, spokenMsOf(spoken));
    this.#write(this.#sent === '' ? text : ` ${text}`);
  }

  /** Upper bound of the answer's audio in milliseconds; unbounded when audio is not billed as output tokens. */
  get #capMs(): number {
    if (!this.#options.cap.capsSound) return Number.POSITIVE_INFINITY;
    return (this.#outputCap - (this.#reply?.tokens.output ?? 0)) * SPOKEN_TOKEN_MS;
  }

  /** Sends deltas as the send buffer has room, several together when they fit. Returns false when the turn was stopped. */
  async #sendAll(deltas: SpeechDeltas): Promise<boolean> {
    const { answer, client } = this.#options;
    while (!deltas.isOver) {
      await client.room(this.#stopped);
      if (this.#isStopped) return false;
      client.batch(() => {
        do {
          const delta = deltas.next();
          if (delta.length === 0) continue;
          if (this.#firstAudioMs === undefined) this.#firstAudioGoesOut();
          answer.audio(delta);
        } while (!deltas.isOver && client.hasRoom);
      });
    }
    return true;
  }

  #firstAudioGoesOut(): void {
    this.#firstAudioMs = this.#sinceStart();
    this.#options.trace?.frame();
  }

  #finish(cause: TurnCause | undefined): void {
    const { answer, client } = this.#options;
    client.batch(() => answer.finish(cause, this.#sent));
    this.#report(cause);
  }

  /** Handles an unexpected error, which may come from sending to the client. Always reports the usage so far. */
  #broke(error: unknown): void {
    this.#stopped.fire();
    this.#options.log.error({ err: error, answerId: this.#options.answer.id }, 'voice turn broke');
    if (this.#isReported) return;
    try {
      this.#finish(BROKE);
    } catch (again) {
      this.#options.log.error({ err: again, answerId: this.#options.answer.id }, 'turn not closed');
    }
    this.#report(BROKE);
  }

  /** Reports the outcome of this turn exactly once. */
  #report(cause: TurnCause | undefined): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const tokens = this.#reply?.tokens;
    this.#options.finished({
      cause,
      textIn: tokens?.input ?? 0,
      cachedIn: tokens?.cached ?? 0,
      textOut: tokens?.output ?? 0,
      spokenMs: this.#spokenMs,
      spokenChars: this.takeSpokenChars(),
      replyMs: this.#replyMs,
      firstAudioMs: this.#firstAudioMs,
      unplayedMs: cause === undefined ? this.#unplayedMs : 0,
    });
  }

  #attempt(work: Promise<void>, stage?: 'voice'): void {
    work.catch((error: unknown) => {
      if (this.#isStopped) return;
      if (error instanceof StageFailed) return this.fail(error.code, error.message, stage);
      this.#options.log.error(
        { err: error, answerId: this.#options.answer.id },
        'voice turn failed',
      );
      this.fail('engine_failed', 'An engine could not finish this response.', stage);
    });
  }

  #send(event: VoiceTurnEvent): void {
    this.#actor.send(event);
  }

  get #unplayedMs(): number {
    const playedMs = this.#sinceStart() - (this.#firstAudioMs ?? 0);
    return Math.max(0, this.#spokenMs - playedMs);
  }

  get #isStopped(): boolean {
    return this.#stopped.aborted;
  }

  #sinceStart(): number {
    return this.#options.clock.monotonicMs() - this.#startedAtMs;
  }
}
