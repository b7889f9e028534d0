import type { SoundFormat } from '../../../../media/coding.ts';
import { type Clock, sleep } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Random } from '../../../kernel/random.ts';
import { scriptedAnswer } from '../../../voice/session/scripted-llm.ts';
import type { ConfigProblem, SessionConfig } from '../../../voice/session/session-config.ts';
import type { VoicePipeline } from '../../../voice/session/voice-pipeline.ts';
import type { VoiceSession } from '../../../voice/session/voice-session.ts';
import type { AnsweredBy } from '../../carriers/carrier.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import type { Announcement } from '../../recordings/announcement.ts';
import type { BargeIn } from '../../voice/barge-in.ts';
import type { AnswerLabels } from '../../voice/call-client.ts';
import { type EnteredKeys, type GatherRules, KeyEntry, keypadNote } from '../../voice/key-entry.ts';
import type { CallLine } from '../../voice/line/call-line.ts';
import type { CallerSound } from '../../voice/line/caller-sound.ts';
import { LineSounds } from '../../voice/line/line-sounds.ts';
import { NamedTimers } from '../named-timers.ts';

/** Milliseconds between two checks that the carrier has opened the media stream again after it sent digits. */
const RETURN_MS = 100;

/** The sentence that the caller hears after a failed transfer. */
export const NOT_REACHED = 'I could not reach that person.';

/** The methods of a live call that its actions use. */
export interface ActedCall {
  /** Adds a note for the responder to the history. */
  note(text: string): void;
  /** Speaks a text without a model. */
  say(text: string): void;
  /** Requests an answer of the responder. */
  respond(): void;
  /** Stops the sound in progress, and keeps the part that was heard. */
  cutShort(): void;
  end(reason: string): void;
}

export type LiveParts = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly format: SoundFormat;
  readonly session: VoiceSession;
  readonly line: CallLine;
  readonly sound: Pick<CallerSound, 'isMuted' | 'mute'>;
  readonly bargeIn: BargeIn;
  readonly announcement: Pick<Announcement, 'asked' | 'isOpen'>;
  readonly pipeline: Pick<VoicePipeline, 'problemOf'>;
  readonly call: ActedCall;
  /**
   * Receives digits that the responder asked the caller for, before the responder's request that has the note of the digits.
   */
  readonly entered: (digits: string) => void;
  /** True when the responder answers each key by itself, so that the end of an entry interrupts no answer. */
  readonly hearsKeys?: boolean | undefined;
};

/** Actions of a live call beside its conversation: keys, sounds, transfers, and messages on answering machines. */
export class LiveActions {
  readonly sounds: LineSounds;
  readonly #parts: LiveParts;
  readonly #keys: KeyEntry;
  readonly #timers: NamedTimers;
  #isTransferring = false;
  /** Deadline for the carrier to finish sending digits. The media stream may be closed until then. */
  #awayUntilMs = 0;
  /** Number of digit sequences that wait to be sent or are being sent. */
  #sendings = 0;
  readonly #closing = new AbortController();
  #verdict: ((answeredBy: AnsweredBy) => void) | undefined;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.sounds = new LineSounds(parts);
    this.#keys = new KeyEntry({ clock: parts.clock, entered: (keys) => this.#entered(keys) });
    this.#timers = new NamedTimers(parts.clock);
  }

  /** True once the peer is no longer heard and gets no answers. */
  get isMuted(): boolean {
    return this.#parts.sound.isMuted;
  }

  /** True while a transfer is under way, for which the carrier closes the media stream. */
  get isTransferring(): boolean {
    return this.#isTransferring;
  }

  /** True while the carrier's media stream is open. */
  get isAttached(): boolean {
    return this.#parts.line.isAttached;
  }

  /** True while keys are gathered for the responder. */
  get isGathering(): boolean {
    return this.#keys.isGathering;
  }

  get config(): SessionConfig {
    return this.#parts.session.config;
  }

  /** Returns the text under which the transcript shows a pressed key, which may be secret. */
  writtenAs(digit: string): string {
    return this.#keys.writtenAs(digit);
  }

  press(digit: string): void {
    this.#keys.press(digit);
  }

  /**
   * Gathers the next keys by `rules`, then requests an answer of the responder to these keys. `over` runs once, when the caller
   * presses no more keys that may belong to the entry.
   */
  gather(rules: GatherRules, over: () => void): void {
    this.#keys.gather(rules, over);
  }

  /** Holds the caller's next keys back, unlogged and not stored, until `gather` uses them or `dropKeys` drops them. */
  keepKeys(rules: GatherRules): void {
    this.#keys.keep(rules);
  }

  /** Discards the withheld keys, and every further key until the caller pauses. */
  dropKeys(): void {
    this.#keys.drop();
  }

  /** True while pressed keys are dropped. They do not interrupt the agent, who explains why or answers the earlier entry. */
  get isDroppingKeys(): boolean {
    return this.#keys.isDropping;
  }

  /**
   * Changes the session's settings from the next utterance on. Resolves with the problem when the settings cannot be served,
   * and changes nothing then.
   */
  async configure(change: Partial<SessionConfig>): Promise<ConfigProblem | undefined> {
    const { pipeline, session } = this.#parts;
    const config = { ...session.config, ...change };
    const problem = pipeline.problemOf(config);
    if (problem === undefined) session.configure(config);
    return problem;
  }

  note(text: string): void {
    this.#parts.call.note(text);
  }

  /** Resolves once the peer has heard everything that was said by now, or after `lastWordsMs`. */
  heardOut(): Promise<void> {
    return this.#parts.line.played(PHONE_LIMITS.call.lastWordsMs, new AbortController().signal);
  }

  /** Stops the sound in progress at once. From here on the peer is not heard and gets no answers. */
  mute(): void {
    const { bargeIn, call, session, sound } = this.#parts;
    sound.mute();
    this.#keys.close();
    bargeIn.close();
    session.clearInput();
    call.cutShort();
    // Cancels the answer in progress. A scripted answer that has not begun is not cancelled.
    session.cancel();
  }

  /** Mutes the call, speaks `text` to its end, and ends the call with `reason`. */
  leave(text: string, reason: string): void {
    this.mute();
    const { call, session } = this.#parts;
    const problem = session.respond(scriptedAnswer(session.config, text, { last: reason }));
    if (problem !== undefined) call.end(reason);
  }

  /** Ends the call at once: the peer hears nothing more. */
  drop(reason: string): void {
    this.mute();
    this.#parts.call.end(reason);
  }

  /** Handles the begin of an answer: cancels the answer of a muted call, unless it is the last one. */
  answerBegan(answerId: string, labels: AnswerLabels): void {
    if (!this.isMuted || labels.last !== undefined) return;
    queueMicrotask(() => this.#parts.session.cancel(answerId));
  }

  /** Handles the end of an answer. Returns true for the last answer: the call ends once the peer has heard it. */
  answered({ last }: AnswerLabels): boolean {
    if (last === undefined) return false;
    this.#parts.line.afterPlayed(() => this.#parts.call.end(last), PHONE_LIMITS.call.lastWordsMs);
    return true;
  }

  /** Marks the peer as being transferred. A call that does not come back within `PHONE_LIMITS.transfer.timeoutMs` counts as transferred. */
  transferring(): void {
    this.#isTransferring = true;
    this.#timers.after('transfer', PHONE_LIMITS.transfer.timeoutMs, () => this.transferred());
  }

  /** Ends the call here, because the other person has answered the transfer. */
  transferred(): void {
    if (this.#isTransferring) this.#parts.call.end('call_transfer');
  }

  /**
   * Takes a call back whose transfer failed, and says that the other person was not reached. Does nothing when no transfer is
   * under way.
   */
  transferFailed(note: string): void {
    if (!this.#isTransferring) return;
    this.#isTransferring = false;
    this.#timers.cancel('transfer');
    this.#parts.session.cancel();
    this.#parts.call.note(note);
    this.#parts.call.say(NOT_REACHED);
  }

  /**
   * Waits for the media stream after the carrier refused a transfer. Ends the call when the stream is not back within
   * `withinMs`.
   */
  transferRefused(withinMs: number): void {
    if (this.#isTransferring) this.#timers.after('transfer', withinMs, () => this.drop('error'));
  }

  /**
   * Waits until the peer has heard the sound up to now, and has the carrier send digits, which takes `ms`. The media stream may
   * be closed meanwhile; the agent cannot end the call before the digits are sent.
   */
  async sendDigits(ms: number, send: () => Promise<void>): Promise<void> {
    const { clock, line } = this.#parts;
    const { signal } = this.#closing;
    this.#sendings++;
    line.holdEnd('digits');
    try {
      await this.heardOut();
      this.#awayUntilMs = clock.monotonicMs() + PHONE_LIMITS.carrier.timeoutMs + ms;
      await send();
      await sleep(clock, ms, signal);
    } finally {
      while (!line.isAttached && this.awayMs > 0 && !signal.aborted) {
        await sleep(clock, RETURN_MS, signal);
      }
      if (--this.#sendings === 0) line.releaseEnd('digits');
    }
  }

  /** Milliseconds for which the carrier may still keep the media stream closed to send digits. */
  get awayMs(): number {
    return Math.max(0, this.#awayUntilMs - this.#parts.clock.monotonicMs());
  }

  /** Sets the callback for the carrier's verdict on who answered. */
  onAnsweredBy(verdict: (answeredBy: AnsweredBy) => void): void {
    this.#verdict = verdict;
  }

  answeredBy(answeredBy: AnsweredBy): void {
    this.#verdict?.(answeredBy);
  }

  close(): void {
    this.#keys.close();
    this.#timers.close();
    this.sounds.stop();
    this.#closing.abort();
    this.#parts.line.releaseEnd('digits');
  }

  #entered(keys: EnteredKeys): void {
    const { announcement, bargeIn, call, entered, hearsKeys } = this.#parts;
    const isAnnouncing = announcement.isOpen;
    if (keys.digits !== '' && !isAnnouncing && !hearsKeys) bargeIn.interruptNow();
    call.note(keypadNote(keys));
    if (keys.isGathered) entered(keys.digits);
    // Keys do not interrupt an announcement: they are answered after it.
    if (isAnnouncing) announcement.asked();
    else call.respond();
  }
}
