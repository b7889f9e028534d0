import { type ActorRefFrom, createActor } from 'xstate';
import {
  type TurnCause,
  type TurnEffects,
  type VoiceTurnEvent,
  voiceTurnMachine,
} from '../../../machines/voice-turn.ts';
import { SpeechCutter } from '../../engines/tts/split-speech.ts';
import type { Clock } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Log } from '../../kernel/log.ts';
import { outputCapOf, SPOKEN_TOKEN_MS, type TurnCap } from '../billing/turn-meter.ts';
import type { EventSender } from '../protocols/openai-realtime/event-sender.ts';
import type { ResponseWriter } from '../protocols/openai-realtime/response-writer.ts';
import type { SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import type { ConversationItem } from './conversation.ts';
import { Passages } from './passages.ts';
import { SpeechEncoder } from './speech-encoder.ts';
import { type Llm, type LlmPiece, type LlmReply, StageFailed, type Tts } from './voice-pipeline.ts';

const SPEECH_BOUNDS = {
  firstChars: LIMITS.engines.speechFirstChunkChars,
  chars: LIMITS.engines.speechChunkChars,
};
const TEXT_BYTES_PER_SECOND = LIMITS.speech.textBytesPerSecond;

const BROKE: TurnCause = { kind: 'failed', code: 'server_error', message: 'The turn broke.' };

type Call = Extract<LlmPiece, { kind: 'call' }>;

export type TurnOutcome = {
  readonly cause: TurnCause | undefined;
  readonly textIn: number;
  /** Of `textIn`, what the upstream had kept from before. */
  readonly cachedIn: number;
  readonly textOut: number;
  readonly spokenMs: number;
  readonly spokenChars: number;
  /** Milliseconds from the turn's begin: the reply known, the first sound sent. */
  readonly replyMs: number | undefined;
  readonly firstAudioMs: number | undefined;
  /** How long a client that plays what it gets is still busy with it; nothing is played of what was broken off. */
  readonly unplayedMs: number;
};

export type VoiceTurnOptions = {
  readonly llm: Llm;
  readonly voice: Tts;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: SessionConfig;
  /** The caller did not respond to the last answer. */
  readonly isPrompt: boolean;
  readonly cap: TurnCap;
  readonly writer: ResponseWriter;
  readonly sender: EventSender;
  /** What the turn answers to, known once everything that was said before it is transcribed. */
  readonly items: () => Promise<readonly ConversationItem[]>;
  /** Called exactly once, when the response is closed on the wire and only its `done` is owed. */
  readonly finished: (outcome: TurnOutcome) => void;
};

/** One running answer: conversation → LLM → speech sentence by sentence → deltas. */
export class VoiceTurn {
  readonly #options: VoiceTurnOptions;
  readonly #actor: ActorRefFrom<typeof voiceTurnMachine>;
  readonly #startedAtMs: number;
  readonly #stopped = new AbortController();
  readonly #outputCap: number;
  readonly #passages = new Passages();
  readonly #calls: Call[] = [];
  #reply: LlmReply | undefined;
  #encoder: SpeechEncoder | undefined;
  #sent = '';
  #spokenMs = 0;
  #spokenChars = 0;
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
      speak: () => this.#attempt(this.#speak()),
      stop: () => this.#stopped.abort(),
      finish: (cause) => this.#finish(cause),
    };
    this.#actor = createActor(voiceTurnMachine, { clock, input: { effects } });
    this.#actor.subscribe({ error: (error) => this.#broke(error) });
  }

  get responseId(): string {
    return this.#options.writer.id;
  }

  start(): void {
    const { sender, writer } = this.#options;
    sender.batch(() => writer.created());
    this.#actor.start();
  }

  /** Ends it at once: what was bought so far is reported, nothing more is bought. */
  interrupt(reason: 'turn_detected' | 'client_cancelled'): void {
    this.#tell({ type: 'turn.interrupted', reason });
  }

  fail(code: string, message: string): void {
    this.#tell({ type: 'engine.failed', code, message });
  }

  async #generate(): Promise<void> {
    const { llm, config, isPrompt } = this.#options;
    const items = await this.#options.items();
    if (this.#isStopped) return;
    const { signal } = this.#stopped;
    const reply = llm.reply({ config, items, isPrompt, outputCap: this.#outputCap, signal });
    this.#reply = reply;
    const cutter = new SpeechCutter(SPEECH_BOUNDS);
    const isText = config.outputModality === 'text';
    let chars = 0;
    for (let piece = await reply.next(); piece !== undefined; piece = await reply.next()) {
      if (this.#isStopped) return;
      if (piece.kind === 'call') {
        this.#say(cutter.end());
        this.#call(piece);
        continue;
      }
      chars += piece.text.length;
      if (chars > LIMITS.realtimeReplyChars) {
        this.#ready();
        return this.#tell({ type: 'output.cut', reason: 'max_output_tokens' });
      }
      this.#say(isText ? [piece.text] : cutter.push(piece.text));
    }
    if (this.#isStopped) return;
    this.#say(cutter.end());
    this.#passages.end();
    this.#ready();
  }

  /** Calls stand behind the words that were said before them, and those take a while. */
  #call(call: Call): void {
    if (this.#passages.isEmpty) this.#options.writer.callFunction(call);
    else this.#calls.push(call);
  }

  #say(passages: readonly string[]): void {
    for (const passage of passages) this.#passages.push(passage);
    if (passages.length > 0) this.#ready();
  }

  /** The first words are there, or it is known that none come. */
  #ready(): void {
    if (this.#replyMs !== undefined) return;
    this.#replyMs = this.#sinceStart();
    this.#tell({ type: 'reply.ready' });
  }

  async #speak(): Promise<void> {
    const { config, writer } = this.#options;
    const isText = config.outputModality === 'text';
    let isFull = false;
    for (let passage = await this.#passages.next(); passage !== undefined && !isFull; ) {
      if (this.#isStopped) return;
      if (writer.messageId === undefined) writer.beginMessage();
      if (isText) this.#write(passage);
      else isFull = await this.#speakPassage(passage);
      if (this.#isStopped) return;
      if (!isFull) passage = await this.#passages.next();
    }
    if (this.#isStopped) return;
    const reason = isFull ? 'max_output_tokens' : this.#reply?.cut;
    if (reason !== undefined) return this.#tell({ type: 'output.cut', reason });
    if (this.#calls.length > 0) writer.endMessage(undefined, this.#sent);
    for (const call of this.#calls) writer.callFunction(call);
    this.#tell({ type: 'speech.finished' });
  }

  #write(text: string): void {
    this.#sent += text;
    this.#options.writer.text(text);
  }

  /** Answers whether the output cap cut the speech short. */
  async #speakPassage(passage: string): Promise<boolean> {
    const { cap, config, voice, writer } = this.#options;
    const { signal } = this.#stopped;
    const { speed, outputFormat } = config;
    // Synthesis is paid for by what it is asked for.
    if (this.#spokenChars + passage.length > cap.spokenChars) return true;
    this.#encoder ??= new SpeechEncoder(outputFormat);
    const speech = voice.speak({ text: passage, voice: config.voice, speed, signal });
    for await (const { pcm, sampleRateHz, text } of speech) {
      if (this.#isStopped) return false;
      const pieceMs = (pcm.length / sampleRateHz) * 1_000;
      if (this.#spokenMs + pieceMs > this.#capMs) return true;
      // Synthesis has happened: the piece is bought, and is sent whole or until it is interrupted.
      this.#spokenMs += pieceMs;
      if (text !== '') {
        if (!(await this.#sendAll(this.#encoder.end()))) return false;
        this.#spokenChars += text.length;
        writer.spoken.begin(text, (Buffer.byteLength(text) * 1_000) / TEXT_BYTES_PER_SECOND);
        this.#write(this.#sent === '' ? text : ` ${text}`);
      }
      writer.spoken.lasted(pieceMs);
      if (!(await this.#sendAll(this.#encoder.piece(pcm, sampleRateHz)))) return false;
    }
    writer.spoken.ended();
    await this.#sendAll(this.#encoder.end());
    return false;
  }

  /** Tokens of sound count as output where they are billed as such. */
  get #capMs(): number {
    if (!this.#options.cap.countsSound) return Number.POSITIVE_INFINITY;
    return (this.#outputCap - (this.#reply?.tokens.output ?? 0)) * SPOKEN_TOKEN_MS;
  }

  /** False: the turn was stopped meanwhile. */
  async #sendAll(deltas: Iterable<Uint8Array>): Promise<boolean> {
    for (const bytes of deltas) if (!(await this.#sendAudio(bytes))) return false;
    return true;
  }

  /** False: the turn was stopped while it waited for the client to take what it has. */
  async #sendAudio(bytes: Uint8Array): Promise<boolean> {
    const { sender, writer } = this.#options;
    await sender.room(this.#stopped.signal);
    if (this.#isStopped) return false;
    this.#firstAudioMs ??= this.#sinceStart();
    writer.audio(bytes);
    return true;
  }

  #finish(cause: TurnCause | undefined): void {
    const { sender, writer } = this.#options;
    sender.batch(() => writer.finish(cause, this.#sent));
    this.#report(cause);
  }

  /** What was bought is reported in any case: it may be the wire that broke, and cannot be closed. */
  #broke(error: unknown): void {
    this.#stopped.abort();
    this.#options.log.error({ err: error, responseId: this.responseId }, 'voice turn broke');
    if (this.#isReported) return;
    try {
      this.#finish(BROKE);
    } catch (again) {
      this.#options.log.error({ err: again, responseId: this.responseId }, 'turn not closed');
    }
    this.#report(BROKE);
  }

  /** The one report of this turn, whichever way it ended. */
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
      spokenChars: this.#spokenChars,
      replyMs: this.#replyMs,
      firstAudioMs: this.#firstAudioMs,
      unplayedMs: cause === undefined ? this.#unplayedMs : 0,
    });
  }

  #attempt(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (this.#isStopped) return;
      if (error instanceof StageFailed) return this.fail(error.code, error.message);
      this.#options.log.error({ err: error, responseId: this.responseId }, 'voice turn failed');
      this.fail('engine_failed', 'An engine could not finish this response.');
    });
  }

  /** What comes after the end of a turn means nothing any more. */
  #tell(event: VoiceTurnEvent): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send(event);
  }

  get #unplayedMs(): number {
    const playedMs = this.#sinceStart() - (this.#firstAudioMs ?? 0);
    return Math.max(0, this.#spokenMs - playedMs);
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  #sinceStart(): number {
    return this.#options.clock.monotonicMs() - this.#startedAtMs;
  }
}
