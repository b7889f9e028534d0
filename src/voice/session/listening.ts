import { bytesPerMs } from '../../../media/coding.ts';
import { HEARING_HZ } from '../../../media/hearing.ts';
import type { TimerHandle } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { AudioAllowance } from '../billing/audio-allowance.ts';
import { UnpaidSound } from '../billing/unpaid-sound.ts';
import { VOICE_LIMITS } from '../limits.ts';
import { Transcriber } from '../stt/transcriber.ts';
import type { Heard } from '../stt/transcriber-events.ts';
import type { SessionProblem } from './answer-request.ts';
import { IdleWatch } from './idle-watch.ts';
import type { ListeningDeps } from './listening-deps.ts';
import { NOTHING_TO_COMMIT, OVER_RESERVE, RESERVED_MS, SOUND_TOO_FAST } from './sound-refusals.ts';
import { endpointingOf, turnBoundsOf } from './turn-detection.ts';
import type { UtteranceEnd } from './voice-client.ts';

/**
 * The listening half of a voice session: the input audio buffer and the caller's items. Opens a recogniser and allocates
 * buffers only at the first audio.
 */
export class Listening {
  // Fields that every audio frame uses come first (docs/decisions/0109).
  #transcriber: Transcriber | undefined;
  /** Bytes in one millisecond of the input format. */
  #bytesPerMs = 1;
  readonly #unpaid = new UnpaidSound();
  readonly #allowance: AudioAllowance;
  readonly #tally: ListeningDeps['tally'];
  #receivedMs = 0;
  readonly #awaited = new IdleWatch();
  readonly #deps: ListeningDeps;
  /** Transcribers that receive no more audio and have utterances left to transcribe. */
  readonly #retiring = new Set<Transcriber>();
  #retired: Promise<void> = Promise.resolve();
  /** Milliseconds of audio that the session had received when it opened the current transcriber. */
  #transcriberOpenedAtMs = 0;
  #itemId = '';
  #isCommitting = false;
  #idleTimer: TimerHandle | undefined;

  constructor(deps: ListeningDeps) {
    this.#deps = deps;
    this.#tally = deps.tally;
    this.#allowance = new AudioAllowance(deps.clock.monotonicMs());
  }

  /** Processes audio that arrived at `nowMs`; does not keep the array. Returns the problem of audio that is refused. */
  append(audio: Uint8Array, nowMs: number): SessionProblem | undefined {
    if (audio.length === 0) return undefined;
    this.#transcriber ??= this.#openTranscriber();
    const ms = audio.length / this.#bytesPerMs;
    if (this.#unpaid.ms + this.#transcriber.unheardMs + ms > RESERVED_MS) return OVER_RESERVE;
    if (!this.#allowance.take(ms, nowMs)) return SOUND_TOO_FAST;

    this.#tally.arrived(ms, nowMs);
    this.#receivedMs += ms;
    this.#transcriber.push(audio);
    this.#lookAwaited();
    return undefined;
  }

  commit(): SessionProblem | undefined {
    if (
      this.#transcriber === undefined ||
      this.#transcriber.pendingMs < VOICE_LIMITS.transcription.commitMinMs
    ) {
      return NOTHING_TO_COMMIT;
    }
    this.#isCommitting = true;
    this.#transcriber.commit();
    this.#isCommitting = false;
    return undefined;
  }

  clear(): void {
    this.#transcriber?.clear();
  }

  /** Applies a new audio format or turn detection: drops the utterance in progress, but transcribes all committed audio. */
  restart(): void {
    const transcriber = this.#transcriber;
    if (transcriber === undefined) return;
    this.#transcriber = undefined;
    this.#retiring.add(transcriber);
    const before = this.#retired;
    this.#retired = transcriber.retire().then(() => {
      this.#retiring.delete(transcriber);
      return before;
    });
  }

  /** True when turn detection is on and hears the caller speak. */
  get isSpeaking(): boolean {
    return this.#deps.config().turnDetection !== null && this.#transcriber?.isHearing === true;
  }

  /** True while the caller speaks or speech is being transcribed. Audio that the client may still commit does not count. */
  get isBusy(): boolean {
    const transcribers =
      this.#transcriber === undefined ? this.#retiring : [this.#transcriber, ...this.#retiring];
    return this.isSpeaking || [...transcribers].some((transcriber) => transcriber.isTranscribing);
  }

  /** Resolves when every committed utterance is transcribed. */
  async transcribed(): Promise<void> {
    await Promise.all([this.#retired, this.#transcriber?.transcribed()]);
  }

  /** Returns the caller's speech that is not billed yet. */
  get unpaid(): Pick<UnpaidSound, 'take' | 'billed'> {
    return this.#unpaid;
  }

  /** Begins to wait for the caller to speak, once the remaining `unplayedMs` of an answer have been played. */
  awaitCaller(unplayedMs: number): void {
    this.#awaited.begin(this.#receivedMs + unplayedMs);
  }

  /**
   * Handles the end of speech. Speech that needs no answer (`isAddressed` is false) resumes a suspended wait for the caller.
   */
  heardOut(isAddressed: boolean): void {
    if (isAddressed) this.#awaited.spoken();
    else this.#awaited.goOn(this.#receivedMs);
  }

  stopAwaiting(): void {
    this.#awaited.end();
  }

  close(): void {
    this.#unpaid.waitNoMore();
    if (this.#idleTimer !== undefined) this.#deps.clock.clearTimeout(this.#idleTimer);
    this.restart();
    for (const transcriber of this.#retiring) transcriber.close();
  }

  #openTranscriber(): Transcriber {
    const { client, clock, gates, vad } = this.#deps;
    const stt = this.#deps.stt();
    const { inputFormat, turnDetection } = this.#deps.config();
    const retired = this.#retired;
    /** Utterances that have begun and are not transcribed yet, oldest first. */
    const awaiting: { readonly itemId: string; wantsAnswer: boolean }[] = [];
    this.#bytesPerMs = bytesPerMs(inputFormat);
    this.#transcriberOpenedAtMs = this.#receivedMs;
    this.#armIdleTimer();
    const endpointing = endpointingOf(turnDetection);
    const turns = stt.takesTurns ? turnBoundsOf(turnDetection) : undefined;
    return new Transcriber({
      ...inputFormat,
      endpointing,
      silenceAfter: (words) =>
        this.#deps.silenceAfter(words) ?? endpointing?.silenceDurationMs ?? 0,
      turns,
      vad,
      gates,
      clock,
      async openStt(listener) {
        // A session has one recogniser at a time, however often its settings change.
        await retired;
        return stt.open({ sampleRateHz: HEARING_HZ, listener, ...(turns && { turns }) });
      },
      events: {
        began: (atMs) => {
          this.#itemId = newId(this.#deps.random, 'item_');
          awaiting.push({ itemId: this.#itemId, wantsAnswer: false });
          this.#began(atMs);
        },
        ended: (atMs, heardMs) => {
          this.#ended(atMs, heardMs);
          const utterance = awaiting.at(-1);
          if (utterance !== undefined) utterance.wantsAnswer = this.#wantsAnswer;
        },
        segment: ({ text }) => client.interim?.(this.#itemId, text),
        heard: (heard) => {
          const { itemId = '', wantsAnswer = false } = awaiting.shift() ?? {};
          this.#heard(itemId, heard);
          // A client that ends an utterance itself requests its answer itself.
          this.#deps.heard(heard, wantsAnswer && !heard.asked);
        },
        forgotten: () => {
          const { itemId = '' } = awaiting.shift() ?? {};
          client.forgotten?.(itemId);
          this.#deps.forgotten();
        },
        paused: (text) => this.#wantsAnswer && this.#deps.paused(text),
        resumed: () => this.#deps.resumed(),
        failed: (error) => client.transcriberFailed(error),
      },
    });
  }

  #began(atMs: number): void {
    const { client, config, speechStarted } = this.#deps;
    this.#awaited.rest();
    if (config().turnDetection === null) return;
    client.speechStarted(this.#itemId, this.#transcriberOpenedAtMs + atMs);
    speechStarted();
  }

  #ended(atMs: number, heardMs: number): void {
    this.#unpaid.add(heardMs);
    this.#deps.utteranceEnded?.();
    const itemId = this.#itemId;
    const isCommitted = this.#deps.config().turnDetection === null || this.#isCommitting;
    this.#addUtterance(
      itemId,
      isCommitted
        ? { kind: 'committed' }
        : { kind: 'stopped', atMs: this.#transcriberOpenedAtMs + atMs },
    );
  }

  /** Adds an utterance to the conversation before its words are known. */
  #addUtterance(itemId: string, end: UtteranceEnd): void {
    const { client, conversation } = this.#deps;
    const added = conversation.add({
      id: itemId,
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'speech', transcript: null }],
    });
    client.utterance(added, end);
  }

  /** Prompts a caller who was silent after an answer for `idleTimeoutMs`. */
  #lookAwaited(): void {
    if (!this.#awaited.isOn) return;
    const { client, config, random, timedOut } = this.#deps;
    // When the caller spoke at the end of the answer, the timeout begins after that speech.
    if (this.#transcriber?.isHearing || client.isSounding) {
      this.#awaited.begin(this.#receivedMs);
      return;
    }
    const { turnDetection } = config();
    const idleTimeoutMs = turnDetection?.idleTimeoutMs ?? null;
    if (idleTimeoutMs === null) return;
    const lapsed = this.#awaited.lapsed(this.#receivedMs, idleTimeoutMs);
    if (lapsed === undefined) return;
    const end = { kind: 'silent', fromMs: lapsed.sinceMs, toMs: this.#receivedMs } as const;
    this.#addUtterance(newId(random, 'item_'), end);
    if (this.#wantsAnswer) timedOut();
  }

  get #wantsAnswer(): boolean {
    const { isAnswering, turnDetection } = this.#deps.config();
    return isAnswering && turnDetection?.createResponse === true;
  }

  #heard(id: string, heard: Heard): void {
    const { client, config, continuesTurn, conversation } = this.#deps;
    this.#unpaid.transcribed(heard.heardMs, heard.failed);
    const item = conversation.find(id);
    if (item?.type === 'message') {
      const content = [{ type: 'speech', transcript: heard.text }] as const;
      conversation.replace({ ...item, content, ...(continuesTurn() && { continues: true }) });
    }
    if (config().transcription) client.transcript(id, heard);
    this.#armIdleTimer();
  }

  #armIdleTimer(): void {
    const { clock } = this.#deps;
    if (this.#idleTimer !== undefined) clock.clearTimeout(this.#idleTimer);
    const armedAtMs = clock.monotonicMs();
    const look = () => this.#lookIdle(this.#allowance.lastAtMs <= armedAtMs);
    this.#idleTimer = clock.setTimeout(look, VOICE_LIMITS.realtime.decoderIdleMs);
  }

  /** Closes the transcriber of a line without audio. */
  #lookIdle(isSilent: boolean): void {
    if (this.#transcriber === undefined) return;
    if (isSilent && !this.#transcriber.isBusy) {
      this.restart();
      return;
    }
    // Audio stopped within an utterance, so the utterance ends here, unless the client commits turns itself.
    if (isSilent && this.isSpeaking) this.#transcriber.commit({ asked: false });
    this.#armIdleTimer();
  }
}
