import { ApiError } from '../kernel/api-error.ts';
import type { Clock, TimerHandle } from '../kernel/clock.ts';
import { DRAINING } from '../kernel/draining.ts';
import { BRAND } from '../kernel/ids.ts';
import { tryParseJson } from '../kernel/json/parse-json.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Log } from '../kernel/log.ts';
import type { StreamedAnswer } from '../models/purchase/answer-events.ts';
import type { Buyer } from '../models/purchase/buyer.ts';
import { PacedClient, type PacedSocket } from '../models/purchase/paced-client.ts';
import { codePointsOf } from '../models/speech/speech-request.ts';
import type { SpeechSynthesis } from '../models/speech/synthesize-speech.ts';
import { admitInTime } from './admit-in-time.ts';
import type { SoundPlan } from './speak-query.ts';
import { SpeakQueue } from './speak-queue.ts';
import { buySound, type Speaker } from './speak-texts.ts';

/** The client of a session, as far as it is spoken to. */
export type SpeakClient = PacedSocket & {
  readonly isOpen: boolean;
  close(code: number, reason?: string): void;
};

type SpeakDeps = {
  readonly speech: SpeechSynthesis;
  readonly clock: Clock;
  readonly log: Log;
};

type SpeakInput = {
  readonly buyer: Omit<Buyer, 'signal' | 'workId'>;
  /** Counts a sentence as a request like the upgrade. Throws the 429. */
  readonly admit: () => Promise<void> | undefined;
  readonly plan: SoundPlan;
  readonly speaker: Speaker;
  /** The first message. */
  readonly metadata: Json;
};

const {
  flushes,
  speakChars,
  speakIdleMs,
  messageChars,
  speakStallMs,
  speakUnsentBytes,
  speakWaitingChars,
} = LIMITS.deepgram;

/**
 * Speech in Deepgram's live protocol (https://developers.deepgram.com/docs/tts-websocket): texts up, sound down. A sentence
 * is bought as soon as it is whole, the rest with `Flush` or `Close`, each for what it costs and with its first sound, so
 * that a client that clears, leaves or is cut off pays for the sentence that it hears and for none behind it. No more than
 * one sentence is under way, and the next piece of it waits until the client has taken what was sent.
 */
export class SpeakSession {
  readonly #deps: SpeakDeps;
  readonly #input: SpeakInput;
  #client: SpeakClient | undefined;
  readonly #queue = new SpeakQueue();
  #current: AbortController | undefined;
  #isRunning = false;
  /** How the socket is closed when all is spoken. */
  #closing: { readonly code: number; readonly reason: string } | undefined;
  #isOver = false;
  #sequence = 0;
  readonly #flushedAtMs: number[] = [];
  /** Since the last `Flushed`. */
  #spoken = { characters: 0, chargedRaw: 0n };
  readonly #paced: PacedClient;
  #idle: TimerHandle | undefined;

  constructor(deps: SpeakDeps, input: SpeakInput) {
    this.#deps = deps;
    this.#input = input;
    this.#paced = new PacedClient(deps.clock, {
      unsentBytes: speakUnsentBytes,
      stallMs: speakStallMs,
    });
  }

  opened(client: SpeakClient): void {
    this.#client = client;
    this.#say(this.#input.metadata);
    this.#rest();
  }

  message(data: string | Uint8Array): void {
    if (this.#isOver || this.#closing !== undefined) return;
    this.#rest();
    const message = typeof data === 'string' ? readMessage(data) : undefined;
    if (message?.type === 'Speak') this.#take(message.text);
    else if (message?.type === 'Flush') this.#flush();
    else if (message?.type === 'Clear') this.#clear();
    else if (message?.type === 'Close') this.#finish({ code: 1000, reason: 'done' });
    else this.#warn('UNPARSABLE_CLIENT_MESSAGE', 'A message is Speak, Flush, Clear or Close.');
  }

  /** The client has taken what was sent. */
  drained(): void {
    this.#paced.drained();
  }

  /** Speaks what it was given, and takes no more. */
  drain(): void {
    if (this.#closing === undefined) this.#finish(DRAINING);
  }

  cutOff(code: number, reason: string): void {
    this.#end();
    this.#client?.close(code, reason);
  }

  closed(): void {
    this.#end();
  }

  #take(text: unknown): void {
    if (typeof text !== 'string' || text === '') {
      this.#warn('INVALID_TEXT', 'Speak has a text.');
      return;
    }
    if (text.length > 2 * speakChars || codePointsOf(text) > speakChars) {
      this.#warn('TEXT_TOO_LONG', `One text has at most ${speakChars} characters.`);
      return;
    }
    if (!this.#queue.add(text)) {
      this.#warn('TOO_MUCH_TEXT', `At most ${speakWaitingChars} characters may wait to be spoken.`);
      return;
    }
    this.#run();
  }

  #flush(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    while ((this.#flushedAtMs[0] ?? nowMs) <= nowMs - flushes.windowMs) this.#flushedAtMs.shift();
    if (this.#flushedAtMs.length >= flushes.most) {
      const { most, windowMs } = flushes;
      this.#warn('FLUSH_LIMIT', `At most ${most} flushes are done in ${windowMs / 1_000} s.`);
      return;
    }
    this.#flushedAtMs.push(nowMs);
    this.#queue.flush();
    this.#run();
  }

  #clear(): void {
    this.#queue.clear();
    this.#stopSpeaking();
    this.#say({ type: 'Cleared', sequence_id: this.#sequence++ });
  }

  #finish(closing: { readonly code: number; readonly reason: string }): void {
    this.#closing = closing;
    this.#queue.cutRest();
    this.#run();
  }

  /** Does the jobs one after another. Never rejects. */
  #run(): void {
    if (this.#isRunning || this.#isOver) return;
    if (this.#queue.isEmpty && this.#closing === undefined) return;
    this.#isRunning = true;
    this.#rest();
    this.#work()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#isRunning = false;
        this.#rest();
        // What came while the last job ended found it running.
        this.#run();
      });
  }

  async #work(): Promise<void> {
    for (;;) {
      if (this.#isOver) return;
      const job = this.#queue.next();
      if (job === undefined) break;
      if (job.kind === 'flush') this.#sayFlushed();
      else await this.#speak(job.text);
    }
    if (this.#closing === undefined) return;
    const { code, reason } = this.#closing;
    this.cutOff(code, reason);
  }

  async #speak(text: string): Promise<void> {
    const leaving = new AbortController();
    this.#current = leaving;
    const { signal } = leaving;
    try {
      const { clock, speech } = this.#deps;
      const { admit, buyer, plan, speaker } = this.#input;
      await admitInTime(clock, admit, signal);
      const admitPooled = () => admitInTime(clock, buyer.admitPooled, signal);
      const spending = { ...buyer, signal, workId: undefined, admitPooled };
      const sound = await buySound(speech, spending, { plan, speaker, text });
      this.#count(text, sound);
      for await (const piece of sound.body) {
        if (signal.aborted) return;
        await this.#sendInTurn(piece, signal);
      }
    } catch (error) {
      // What was stopped here breaks.
      if (!signal.aborted) throw error;
    } finally {
      if (this.#current === leaving) this.#current = undefined;
    }
  }

  async #sendInTurn(piece: Uint8Array, signal: AbortSignal): Promise<void> {
    const client = this.#client;
    if (client === undefined || signal.aborted) return;
    const isTaken = await this.#paced.send(client, piece, signal);
    if (!isTaken) this.cutOff(1013, 'the client reads too slowly');
  }

  #count(text: string, { headers }: Pick<StreamedAnswer, 'headers'>): void {
    const { characters, chargedRaw } = this.#spoken;
    const charged = headers[`${BRAND.headerPrefix}cost-usdc`] ?? '0';
    this.#spoken = {
      characters: characters + codePointsOf(text),
      chargedRaw: chargedRaw + BigInt(charged),
    };
  }

  /** Says with it what was charged since the last one, in raw USDC: a socket has no headers for that. */
  #sayFlushed(): void {
    const { characters, chargedRaw } = this.#spoken;
    this.#spoken = { characters: 0, chargedRaw: 0n };
    const sequence_id = this.#sequence++;
    this.#say({ type: 'Flushed', sequence_id, characters, cost_usdc: chargedRaw.toString() });
  }

  #stopSpeaking(): void {
    this.#current?.abort();
    this.#current = undefined;
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    if (!(error instanceof ApiError)) this.#deps.log.warn({ err: error }, 'speech broke off');
    const code = error instanceof ApiError ? error.error : 'upstream_broke_off';
    const said = error instanceof ApiError ? error.fields.message : undefined;
    const description = typeof said === 'string' ? said : 'The speech broke off in its middle.';
    this.#say({ type: 'Error', code, description });
    const isOfCaller = error instanceof ApiError && error.status < 500;
    this.cutOff(isOfCaller ? 1008 : 1011, code);
  }

  #warn(code: string, description: string): void {
    // Clients before version 5 of the vendor's read the latter names.
    this.#say({ type: 'Warning', code, description, warn_code: code, warn_msg: description });
  }

  #say(message: Json): void {
    this.#client?.send(JSON.stringify(message));
  }

  /** A socket without a word, and with nothing to say, is given up in time. */
  #rest(): void {
    const { clock } = this.#deps;
    if (this.#idle !== undefined) clock.clearTimeout(this.#idle);
    if (this.#isOver || this.#isRunning) return;
    const reason = `NET-0001: no message in ${speakIdleMs / 1_000} s`;
    this.#idle = clock.setTimeout(() => this.cutOff(1011, reason), speakIdleMs);
  }

  #end(): void {
    this.#isOver = true;
    this.#queue.clear();
    this.#stopSpeaking();
    if (this.#idle !== undefined) this.#deps.clock.clearTimeout(this.#idle);
  }
}

function readMessage(text: string): Json | undefined {
  if (text.length > messageChars) return undefined;
  const value = tryParseJson(text);
  return isObject(value) && !Array.isArray(value) ? value : undefined;
}
