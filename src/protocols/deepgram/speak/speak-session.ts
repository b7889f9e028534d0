import { DRAINING } from '../../../../machines/draining.ts';
import { ApiError } from '../../../kernel/api-error.ts';
import { type Clock, sleep, type TimerHandle } from '../../../kernel/clock.ts';
import { BRAND } from '../../../kernel/ids.ts';
import type { Json } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Buyer } from '../../../models/purchase/buyer.ts';
import { PacedClient, type PacedSocket } from '../../../models/purchase/paced-client.ts';
import { codePointsOf } from '../../../models/speech/speech-request.ts';
import type { SpeechSynthesis } from '../../../models/speech/synthesize-speech.ts';
import { parseClientMessage } from '../../client-message.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';
import type { SpeakClose, SpeakControls, SpeakDialect } from './speak-dialect.ts';
import type { SoundPlan } from './speak-query.ts';
import { SpeakQueue } from './speak-queue.ts';
import { buySound, type Speaker } from './speak-texts.ts';

/** The part of a client's socket that a session needs. */
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
  /** Counts a sentence against the rate limit, as the upgrade was counted. Throws the 429. */
  readonly admit: () => Promise<void> | undefined;
  readonly plan: SoundPlan;
  readonly speaker: Speaker;
};

const {
  flushes,
  chars: speakChars,
  idleMs: speakIdleMs,
  admitEveryMs: speakAdmitEveryMs,
  admitMs: speakAdmitMs,
  stallMs: speakStallMs,
  unsentBytes: speakUnsentBytes,
  waitingChars: speakWaitingChars,
} = DEEPGRAM_LIMITS.speak;
const { messageChars } = DEEPGRAM_LIMITS;

/**
 * Live speech in one of Deepgram's protocols: text in, audio out. Each sentence is a purchase of its own, made when the
 * sentence is complete (the remaining text when the client flushes) and charged with its first audio. A client that stops,
 * leaves or is cut off therefore pays for the sentence that it hears and for no later sentence. One sentence is in progress at
 * a time, and its next piece waits until the client has taken the audio sent.
 */
export class SpeakSession implements SpeakControls {
  readonly #deps: SpeakDeps;
  readonly #input: SpeakInput;
  readonly #dialect: SpeakDialect;
  #speaker: Speaker;
  #client: SpeakClient | undefined;
  readonly #queue = new SpeakQueue();
  #current: AbortController | undefined;
  #isRunning = false;
  /** Close code and reason for the socket once everything is spoken. Undefined while the socket stays open. */
  #closing: SpeakClose | undefined;
  #isOver = false;
  readonly #flushedAtMs: number[] = [];
  readonly #paced: PacedClient;
  #idle: TimerHandle | undefined;

  constructor(
    deps: SpeakDeps,
    input: SpeakInput,
    dialectOf: (controls: SpeakControls) => SpeakDialect,
  ) {
    this.#deps = deps;
    this.#input = input;
    this.#speaker = input.speaker;
    this.#dialect = dialectOf(this);
    this.#paced = new PacedClient(deps.clock, {
      unsentBytes: speakUnsentBytes,
      stallMs: speakStallMs,
    });
  }

  opened(client: SpeakClient): void {
    this.#client = client;
    this.#dialect.opened();
    this.#rest();
  }

  message(data: string | Uint8Array): void {
    if (this.#isOver || this.#closing !== undefined) return;
    this.#rest();
    const message = typeof data === 'string' ? parseClientMessage(data, messageChars) : undefined;
    this.#dialect.read(message, data);
  }

  /** Resumes sending after the client has taken the audio that was sent. */
  drained(): void {
    this.#paced.drained();
  }

  /** Speaks the texts received so far and takes no more. */
  drain(): void {
    if (this.#closing === undefined) this.finish(DRAINING);
  }

  cutOff(code: number, reason: string): void {
    this.#end();
    this.#client?.close(code, reason);
  }

  closed(): void {
    this.#end();
  }

  say(message: Json): void {
    this.#client?.send(JSON.stringify(message));
  }

  warn(code: string, description: string): void {
    this.say(this.#dialect.warning(code, description));
  }

  fail(code: string, description: string, closeCode: number): void {
    this.say({ type: 'Error', code, description });
    this.cutOff(closeCode, code);
  }

  mayTake(text: unknown): text is string {
    if (typeof text !== 'string' || text === '') {
      this.warn('INVALID_TEXT', 'Speak has a text.');
    } else if (text.length > 2 * speakChars || codePointsOf(text) > speakChars) {
      this.warn('TEXT_TOO_LONG', `One text has at most ${speakChars} characters.`);
    } else if (!this.#queue.hasRoom(text)) {
      this.warn('TOO_MUCH_TEXT', `At most ${speakWaitingChars} characters may wait to be spoken.`);
    } else return true;
    return false;
  }

  take(text: string): void {
    this.#queue.add(text);
    this.#run();
  }

  mayFlush(): boolean {
    const nowMs = this.#deps.clock.monotonicMs();
    while ((this.#flushedAtMs[0] ?? nowMs) <= nowMs - flushes.windowMs) this.#flushedAtMs.shift();
    if (this.#flushedAtMs.length >= flushes.most) {
      const { most, windowMs } = flushes;
      this.warn('FLUSH_LIMIT', `At most ${most} flushes are done in ${windowMs / 1_000} s.`);
      return false;
    }
    this.#flushedAtMs.push(nowMs);
    return true;
  }

  flush(spoken: () => void): void {
    this.#queue.cutRest();
    this.#queue.mark(spoken);
    this.#run();
  }

  stop(stopped?: () => void): void {
    this.#queue.clear();
    this.#stopSpeaking();
    if (stopped !== undefined) this.#queue.mark(stopped);
    this.#run();
  }

  setSpeed(speed: number): void {
    this.#speaker = { model: this.#speaker.model, voice: this.#speaker.voice, speed };
  }

  finish(closing: SpeakClose): void {
    this.#closing = closing;
    this.#queue.cutRest();
    this.#run();
  }

  /** Runs the queued jobs one after another. Never rejects. */
  #run(): void {
    if (this.#isRunning || this.#isOver) return;
    if (this.#queue.isEmpty && this.#closing === undefined) return;
    this.#isRunning = true;
    this.#rest();
    this.#work()
      .catch((error: unknown) => this.#breakOff(error))
      .finally(() => {
        this.#isRunning = false;
        this.#rest();
        // Starts the jobs that were queued while the last job was ending.
        this.#run();
      });
  }

  async #work(): Promise<void> {
    for (;;) {
      if (this.#isOver) return;
      const job = this.#queue.next();
      if (job === undefined) break;
      if (job.kind === 'mark') job.reached();
      else await this.#speak(job.text);
    }
    if (this.#closing === undefined) return;
    this.#dialect.ending();
    const { code, reason } = this.#closing;
    this.cutOff(code, reason);
  }

  async #speak(text: string): Promise<void> {
    const leaving = new AbortController();
    this.#current = leaving;
    const { signal } = leaving;
    const sentence = this.#dialect.begin(text);
    try {
      const { clock, speech } = this.#deps;
      const { admit, buyer, plan } = this.#input;
      await admitInTime(clock, admit, signal);
      const admitPooled = () => admitInTime(clock, buyer.admitPooled, signal);
      const spending = { ...buyer, signal, workId: undefined, admitPooled };
      const sound = await buySound(speech, spending, { plan, speaker: this.#speaker, text });
      const charged = sound.headers[`${BRAND.headerPrefix}cost-usdc`] ?? '0';
      sentence.bought(codePointsOf(text), BigInt(charged));
      for await (const piece of sound.body) {
        if (signal.aborted) return;
        sentence.sent(piece.byteLength);
        await this.#sendInTurn(piece, signal);
      }
      sentence.ended();
    } catch (error) {
      // A sentence that this session stopped throws here.
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

  #stopSpeaking(): void {
    this.#current?.abort();
    this.#current = undefined;
  }

  #breakOff(error: unknown): void {
    if (this.#isOver) return;
    if (!(error instanceof ApiError)) this.#deps.log.warn({ err: error }, 'speech broke off');
    const code = error instanceof ApiError ? error.error : 'upstream_broke_off';
    const said = error instanceof ApiError ? error.fields.message : undefined;
    const description = typeof said === 'string' ? said : 'The speech broke off in its middle.';
    const isOfCaller = error instanceof ApiError && error.status < 500;
    this.fail(code, description, isOfCaller ? 1008 : 1011);
  }

  /** Starts the timer that cuts off an idle socket after `speakIdleMs` without a message and with nothing to speak. */
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

/**
 * Requests admission from a rate limit until it is granted. Throws the limit's 429 when that takes too long or `signal` fires.
 */
async function admitInTime(
  clock: Clock,
  admit: () => Promise<void> | undefined,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + speakAdmitMs;
  for (;;) {
    try {
      await admit();
      return;
    } catch (error) {
      const isLimit = error instanceof ApiError && error.status === 429;
      if (!isLimit || clock.monotonicMs() >= untilMs) throw error;
    }
    await sleep(clock, speakAdmitEveryMs, signal);
    signal.throwIfAborted();
  }
}
