import { HEARING_HZ } from '../../../media/hearing.ts';
import type { SttEngine, VadEngine } from '../../engines/engine.ts';
import type { SpeechGates } from '../../engines/vad/fvad-gate.ts';
import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Random } from '../../kernel/random.ts';
import { AudioAllowance } from '../billing/audio-allowance.ts';
import { UnpaidSound } from '../billing/unpaid-sound.ts';
import type { EventProblem } from '../protocols/openai-realtime/client-event.ts';
import type { EventSender } from '../protocols/openai-realtime/event-sender.ts';
import type { SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import {
  NOTHING_TO_COMMIT,
  OVER_RESERVE,
  RESERVED_MS,
  TOO_FAST,
} from '../protocols/openai-realtime/sound-refusals.ts';
import { tellFailure, tellTranscript } from '../protocols/openai-realtime/tell-transcript.ts';
import { Transcriber } from '../stt/transcriber.ts';
import type { Heard } from '../stt/transcriber-events.ts';
import { samplesOf } from './audio-format.ts';
import { commitItem } from './commit-item.ts';
import type { Conversation } from './conversation.ts';
import { IdleWatch } from './idle-watch.ts';
import type { SessionTally } from './session-tally.ts';
import { endpointingOf } from './turn-detection.ts';

export type ListeningDeps = {
  /** What hears the session as it is set up now. */
  readonly stt: () => SttEngine;
  readonly vad: VadEngine;
  readonly gates: SpeechGates | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly sender: EventSender;
  readonly tally: Pick<SessionTally, 'arrived'>;
  readonly conversation: Conversation;
  readonly config: () => SessionConfig;
  /** The caller began to speak. */
  readonly speechStarted: () => void;
  /**
   * An utterance is in the conversation, with its words when any were transcribed. `wantsAnswer`: so said
   * the turn detection that found its end.
   */
  readonly heard: (heard: Heard, wantsAnswer: boolean) => void;
  /** The caller does not speak any more, and nothing is heard of what he had begun to say. */
  readonly forgotten: () => void;
  /** The caller has likely said all, which is this, and is to be answered; or goes on after all. */
  readonly paused: (text: string) => void;
  readonly resumed: () => void;
  /** The caller stayed silent after the last answer for as long as the client allows. */
  readonly timedOut: () => void;
};

/**
 * The listening half of a realtime session: the input audio buffer, and the caller's items. It listens
 * from the first audio on: a session that sends none holds no recogniser and no buffers.
 */
export class Listening {
  readonly #deps: ListeningDeps;
  readonly #tally: ListeningDeps['tally'];
  readonly #allowance: AudioAllowance;
  #transcriber: Transcriber | undefined;
  /** Transcribers that take no more audio and still transcribe what they were given. */
  readonly #retiring = new Set<Transcriber>();
  #retired: Promise<void> = Promise.resolve();
  /** Of the sound that this transcriber hears. */
  #bytesPerMs = 1;
  /** Where in the session's audio this transcriber began to listen. */
  #transcriberOpenedAtMs = 0;
  #itemId = '';
  readonly #unpaid = new UnpaidSound();
  #receivedMs = 0;
  #isCommitting = false;
  readonly #awaited = new IdleWatch();
  #idleTimer: TimerHandle | undefined;

  constructor(deps: ListeningDeps) {
    this.#deps = deps;
    this.#tally = deps.tally;
    this.#allowance = new AudioAllowance(deps.clock.monotonicMs());
  }

  /** Sound that came at `nowMs`; nothing is kept of the array. */
  append(audio: Uint8Array, nowMs: number): EventProblem | undefined {
    if (audio.length === 0) return undefined;
    this.#transcriber ??= this.#openTranscriber();
    const ms = audio.length / this.#bytesPerMs;
    if (this.#unpaid.ms + this.#transcriber.unheardMs + ms > RESERVED_MS) return OVER_RESERVE;
    if (!this.#allowance.take(ms, nowMs)) return TOO_FAST;

    this.#tally.arrived(ms, nowMs);
    this.#receivedMs += ms;
    this.#transcriber.push(audio);
    this.#lookAwaited();
    return undefined;
  }

  commit(): EventProblem | undefined {
    if (this.#transcriber === undefined || this.#transcriber.pendingMs < LIMITS.commitMinMs) {
      return NOTHING_TO_COMMIT;
    }
    this.#isCommitting = true;
    this.#transcriber.commit();
    this.#isCommitting = false;
    return undefined;
  }

  clear(): void {
    this.#transcriber?.clear();
    this.#deps.sender.send('input_audio_buffer.cleared');
  }

  /**
   * The audio format or the turn detection changed: the utterance that goes on is forgotten, and what
   * was committed is still transcribed.
   */
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

  /** The caller is speaking, as far as the server is to know. */
  get isSpeaking(): boolean {
    return this.#deps.config().turnDetection !== null && this.#transcriber?.isHearing === true;
  }

  /** The caller speaks, or speech is being transcribed; audio that the client may yet commit does not count. */
  get isBusy(): boolean {
    const ears =
      this.#transcriber === undefined ? this.#retiring : [this.#transcriber, ...this.#retiring];
    return this.isSpeaking || [...ears].some((transcriber) => transcriber.isMakingOut);
  }

  /** Resolves when everything that was committed is transcribed. */
  async transcribed(): Promise<void> {
    await Promise.all([this.#retired, this.#transcriber?.transcribed()]);
  }

  /** Of what the caller said. */
  get unpaid(): Pick<UnpaidSound, 'take' | 'billed'> {
    return this.#unpaid;
  }

  /** The caller is expected to speak once the rest of an answer has been played. */
  awaitCaller(unplayedMs: number): void {
    this.#awaited.begin(this.#receivedMs + unplayedMs);
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
    const { clock, gates, vad } = this.#deps;
    const stt = this.#deps.stt();
    const { inputFormat, turnDetection } = this.#deps.config();
    const retired = this.#retired;
    /** Utterances whose words this transcriber transcribes, oldest first. */
    const awaiting: { readonly itemId: string; readonly wantsAnswer: boolean }[] = [];
    const samples = samplesOf(inputFormat);
    this.#bytesPerMs = samples.bytesPerSecond / 1_000;
    this.#transcriberOpenedAtMs = this.#receivedMs;
    this.#armIdleTimer();
    return new Transcriber({
      encoding: samples.encoding,
      sampleRateHz: samples.sampleRateHz,
      endpointing: endpointingOf(turnDetection),
      vad,
      gates,
      clock,
      async openStt(listener) {
        // One recogniser a session, however often its client changes how it is listened to.
        await retired;
        return stt.open({ sampleRateHz: HEARING_HZ, listener });
      },
      events: {
        began: (atMs) => this.#began(atMs),
        ended: (atMs, heardMs) =>
          awaiting.push({ itemId: this.#ended(atMs, heardMs), wantsAnswer: this.#wantsAnswer }),
        segment: () => {},
        heard: (heard) => {
          const { itemId = '', wantsAnswer = false } = awaiting.shift() ?? {};
          this.#heard(itemId, heard);
          // A client that ends an utterance itself asks for its answer itself.
          this.#deps.heard(heard, wantsAnswer && !heard.asked);
        },
        forgotten: () => this.#deps.forgotten(),
        paused: (text) => this.#wantsAnswer && this.#deps.paused(text),
        resumed: () => this.#deps.resumed(),
        failed: (error) => tellFailure(this.#deps.sender, error),
      },
    });
  }

  #began(atMs: number): void {
    const { config, sender, random, speechStarted } = this.#deps;
    this.#itemId = newId(random, 'item_');
    this.#awaited.end();
    if (config().turnDetection === null) return;
    sender.send('input_audio_buffer.speech_started', {
      audio_start_ms: Math.round(this.#transcriberOpenedAtMs + atMs),
      item_id: this.#itemId,
    });
    speechStarted();
  }

  /** Answers the id of the item that the utterance became. */
  #ended(atMs: number, heardMs: number): string {
    const { config, sender } = this.#deps;
    this.#unpaid.add(heardMs);
    const itemId = this.#itemId;
    commitItem(this.#deps, itemId, () => {
      if (config().turnDetection === null || this.#isCommitting) return;
      sender.send('input_audio_buffer.speech_stopped', {
        audio_end_ms: Math.round(this.#transcriberOpenedAtMs + atMs),
        item_id: itemId,
      });
    });
    return itemId;
  }

  /** A caller who says nothing to an answer for as long as the client allows is spoken to again. */
  #lookAwaited(): void {
    if (!this.#awaited.isOn) return;
    const { config, sender, random, timedOut } = this.#deps;
    // A caller who spoke when the answer ended has the timeout from the end of that speech on.
    if (this.#transcriber?.isHearing) {
      this.#awaited.begin(this.#receivedMs);
      return;
    }
    const { turnDetection } = config();
    if (turnDetection?.type !== 'server_vad' || turnDetection.idleTimeoutMs === null) return;
    const lapsed = this.#awaited.lapsed(this.#receivedMs, turnDetection.idleTimeoutMs);
    if (lapsed === undefined) return;
    const itemId = newId(random, 'item_');
    commitItem(this.#deps, itemId, () =>
      sender.send('input_audio_buffer.timeout_triggered', {
        audio_start_ms: Math.round(lapsed.sinceMs),
        audio_end_ms: Math.round(this.#receivedMs),
        item_id: itemId,
      }),
    );
    if (this.#wantsAnswer) timedOut();
  }

  get #wantsAnswer(): boolean {
    const { turnDetection, type } = this.#deps.config();
    return type === 'realtime' && turnDetection?.createResponse === true;
  }

  #heard(id: string, heard: Heard): void {
    const { config, conversation, sender } = this.#deps;
    this.#unpaid.told(heard.heardMs, heard.failed);
    const item = conversation.find(id);
    if (item?.type === 'message') {
      conversation.replace({ ...item, content: [{ type: 'input_audio', transcript: heard.text }] });
    }
    if (config().transcription) tellTranscript(sender, id, heard);
    this.#armIdleTimer();
  }

  #armIdleTimer(): void {
    const { clock } = this.#deps;
    if (this.#idleTimer !== undefined) clock.clearTimeout(this.#idleTimer);
    const armedAtMs = clock.monotonicMs();
    const look = () => this.#lookIdle(this.#allowance.lastAtMs <= armedAtMs);
    this.#idleTimer = clock.setTimeout(look, LIMITS.realtimeDecoderIdleMs);
  }

  /** A recogniser without speech goes back to the pool, and a line without sound keeps nothing. */
  #lookIdle(isSilent: boolean): void {
    if (this.#transcriber === undefined) return;
    if (isSilent && !this.#transcriber.isBusy) {
      this.restart();
      return;
    }
    if (!isSilent) this.#transcriber.rest();
    // A caller who fell silent in the middle of a word has said all there is, unless his client takes the turns.
    else if (this.isSpeaking) this.#transcriber.commit({ asked: false });
    this.#armIdleTimer();
  }
}
