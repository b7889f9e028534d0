import { type ActorRefFrom, createActor } from 'xstate';
import {
  type TurnCause,
  type TurnEffects,
  type VoiceTurnEvent,
  voiceTurnMachine,
} from '../../../machines/voice-turn.ts';
import type { CallerFacts, ChatMessage, GuideEngine, TtsEngine } from '../../engines/engine.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Outlet } from './outlet.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { SessionConfig } from './session-config.ts';
import { SpeechEncoder } from './speech-encoder.ts';
import { demandedCall, offeredTools } from './tool-choice.ts';
import { SPOKEN_TOKEN_MS, type TurnCap } from './turn-meter.ts';

/** What the turn answers to, known once everything that was said before it is transcribed. */
export type TurnPrompt = {
  readonly messages: readonly ChatMessage[];
  readonly facts: CallerFacts;
};

export type TurnOutcome = {
  readonly cause: TurnCause | undefined;
  readonly textIn: number;
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
  readonly guide: GuideEngine;
  readonly tts: TtsEngine;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: SessionConfig;
  readonly cap: TurnCap;
  readonly writer: ResponseWriter;
  readonly outlet: Outlet;
  readonly prompt: () => Promise<TurnPrompt>;
  /** Called exactly once, when the response is closed on the wire and only its `done` is owed. */
  readonly finished: (outcome: TurnOutcome) => void;
};

/** One running answer: prompt → guide → speech sentence by sentence → deltas. */
export class VoiceTurn {
  readonly #options: VoiceTurnOptions;
  readonly #actor: ActorRefFrom<typeof voiceTurnMachine>;
  readonly #startedAtMs: number;
  readonly #stopped = new AbortController();
  readonly #outputCap: number;
  readonly #sent: string[] = [];
  #reply = '';
  #textIn = 0;
  #textOut = 0;
  #spokenMs = 0;
  #spokenChars = 0;
  #replyMs: number | undefined;
  #firstAudioMs: number | undefined;
  #isReported = false;

  constructor(options: VoiceTurnOptions) {
    const { cap, clock, config, log, writer } = options;
    this.#options = options;
    this.#startedAtMs = clock.monotonicMs();
    const wanted = config.maxOutputTokens;
    this.#outputCap = wanted === 'inf' ? cap.outputTokens : Math.min(cap.outputTokens, wanted);
    const effects: TurnEffects = {
      generate: () => this.#attempt(this.#generate()),
      speak: () => this.#attempt(this.#speak()),
      stop: () => this.#stopped.abort(),
      finish: (cause) => this.#finish(cause),
    };
    this.#actor = createActor(voiceTurnMachine, { clock, input: { effects } });
    this.#actor.subscribe({
      error: (error) => {
        this.#stopped.abort();
        log.error({ err: error, responseId: writer.id }, 'voice turn broke');
        this.#report({ kind: 'failed', code: 'server_error', message: 'The turn broke.' });
      },
    });
  }

  get responseId(): string {
    return this.#options.writer.id;
  }

  start(): void {
    const { outlet, writer } = this.#options;
    outlet.batch(() => writer.created());
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
    const { cap, clock, config, guide, prompt, writer } = this.#options;
    const { messages, facts } = await prompt();
    if (this.#isStopped) return;
    const answer = await guide.reply({
      messages,
      facts,
      tools: offeredTools(config),
      maxTokens: this.#outputCap,
      nowMs: clock.now(),
    });
    if (this.#isStopped) return;
    this.#textIn = Math.min(answer.usage.inputTokens, cap.inputTokens);
    this.#textOut = Math.min(answer.usage.outputTokens, this.#outputCap);
    this.#replyMs = this.#sinceStart();
    const toolCall = answer.toolCall ?? demandedCall(config);
    this.#reply = toolCall === answer.toolCall ? answer.text : '';
    if (toolCall !== undefined) writer.callFunction(toolCall);
    this.#tell({ type: 'reply.ready' });
  }

  async #speak(): Promise<void> {
    const { config, writer } = this.#options;
    if (this.#reply === '') {
      this.#tell({ type: 'speech.finished' });
      return;
    }
    writer.beginMessage();
    if (config.outputModality === 'text') {
      this.#sent.push(this.#reply);
      writer.text(this.#reply);
      this.#tell({ type: 'speech.finished' });
      return;
    }
    const isFull = await this.#speakSentences();
    if (!this.#isStopped) this.#tell({ type: isFull ? 'output.full' : 'speech.finished' });
  }

  /** Answers whether the output cap cut the speech short. */
  async #speakSentences(): Promise<boolean> {
    const { cap, config, tts, writer } = this.#options;
    const { signal } = this.#stopped;
    const { voice, speed } = config;
    const encoder = new SpeechEncoder(config.outputFormat);
    const capMs = (this.#outputCap - this.#textOut) * SPOKEN_TOKEN_MS;
    const speech = tts.speak({ text: this.#reply, voice, speed, signal });
    for await (const { pcm, sampleRateHz, text } of speech) {
      if (this.#isStopped) return false;
      const sentenceMs = (pcm.length / sampleRateHz) * 1_000;
      const isOver =
        this.#spokenMs + sentenceMs > capMs || this.#spokenChars + text.length > cap.spokenChars;
      if (isOver) return true;
      // Synthesis has happened: the sentence is bought, and is sent whole or until it is interrupted.
      this.#spokenMs += sentenceMs;
      this.#spokenChars += text.length;
      writer.spoken.add(text, sentenceMs);
      writer.text(this.#sent.length === 0 ? text : ` ${text}`);
      this.#sent.push(text);
      for (const bytes of encoder.sentence(pcm, sampleRateHz)) {
        if (!(await this.#sendAudio(bytes))) return false;
      }
    }
    return false;
  }

  /** False: the turn was stopped while it waited for the client to take what it has. */
  async #sendAudio(bytes: Uint8Array): Promise<boolean> {
    const { outlet, writer } = this.#options;
    await outlet.room(this.#stopped.signal);
    if (this.#isStopped) return false;
    this.#firstAudioMs ??= this.#sinceStart();
    writer.audio(bytes);
    return true;
  }

  #finish(cause: TurnCause | undefined): void {
    const { outlet, writer } = this.#options;
    outlet.batch(() => writer.finish(cause, this.#sent.join(' ')));
    this.#report(cause);
  }

  /** The one report of this turn, whichever way it ended. */
  #report(cause: TurnCause | undefined): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#options.finished({
      cause,
      textIn: this.#textIn,
      textOut: this.#textOut,
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
