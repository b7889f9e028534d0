import { createActor, type SnapshotFrom } from 'xstate';
import {
  type Ending,
  type TranscriptionEffects,
  type TranscriptionStreamEvent,
  transcriptionStreamMachine,
} from '../../../machines/transcription-stream.ts';
import { bytesPerSample, type SoundCoding } from '../../../media/coding.ts';
import { AudioAllowance } from '../billing/audio-allowance.ts';
import { PaidAudio } from '../billing/paid-audio.ts';
import type { SessionHold, SessionHoldOwner } from '../billing/session-hold.ts';
import type { RelayClient } from '../live/downlink.ts';
import { SessionActor } from '../live/session-actor.ts';
import { SessionTally } from '../live/session-tally.ts';
import type { VoiceDeps } from '../live/voice-deps.ts';
import {
  audioRefused,
  ENGINE_FAILED,
  LEDGER_AWAY,
  leavingOut,
  TOO_FAST,
  TRANSCRIPT_UNFINISHED,
} from '../live/voice-endings.ts';
import { VoiceLife } from '../live/voice-life.ts';
import type { TranscriptDialect, TranscriptWriter } from './dialect.ts';
import type { StreamTranscriber, StreamTranscriberEvents } from './stream-transcriber.ts';

export type TranscriptionInput = {
  readonly owner: SessionHoldOwner;
  readonly sessionHold: SessionHold;
  readonly encoding: SoundCoding;
  readonly sampleRateHz: number;
  readonly dialect: TranscriptDialect;
  /** True when an upstream transcribes the stream, and gets all messages of its client. */
  readonly isRelayed: boolean;
  readonly openTranscriber: (stage: StreamTranscriberEvents) => StreamTranscriber;
};

type StreamDeps = Pick<VoiceDeps, 'clock' | 'sessions' | 'metrics' | 'trace' | 'log'>;

const wholeMs = (seconds: number): number => Math.round(seconds * 1_000) / 1_000;

/**
 * A live transcription, with the methods that its socket calls. Its actor orders events; the stream owns the transcriber and
 * the reserve, and is settled exactly once.
 */
export class TranscriptionStream {
  readonly #deps: StreamDeps;
  readonly #input: TranscriptionInput;
  readonly #bytesPerSecond: number;
  readonly #allowance: AudioAllowance;
  readonly #hearing: StreamTranscriber;
  readonly #audio: PaidAudio;
  readonly #life: VoiceLife;
  readonly #tally: SessionTally;
  readonly #actor: SessionActor<
    TranscriptionStreamEvent,
    SnapshotFrom<typeof transcriptionStreamMachine>
  >;
  readonly #writer: TranscriptWriter;
  #isFinishing = false;
  #socket: RelayClient | undefined;
  #lastSeenAtMs: number;

  constructor(deps: StreamDeps, input: TranscriptionInput) {
    const { clock } = deps;
    this.#deps = deps;
    this.#input = input;
    this.#bytesPerSecond = input.sampleRateHz * bytesPerSample(input.encoding);
    this.#allowance = new AudioAllowance(clock.monotonicMs());
    this.#lastSeenAtMs = this.#allowance.lastAtMs;
    this.#writer = input.dialect.writer((message) => this.#socket?.send(JSON.stringify(message)));
    this.#tally = new SessionTally({ ...deps, kind: 'transcription' });
    this.#life = new VoiceLife(deps, { ...input, tally: this.#tally });
    this.#hearing = input.openTranscriber({
      writer: this.#writer,
      heardUpTo: (seconds) => {
        this.#audio.heardUpTo(seconds);
        this.#progressed();
      },
      progressed: () => this.#progressed(),
      transcribed: (latencyMs) => {
        this.#tally.stage('final', latencyMs);
        this.#tally.turnEnded();
      },
      failed: (ending, error) => this.#fail(ending, error),
    });
    this.#audio = new PaidAudio({
      sessionHold: input.sessionHold,
      source: input.owner.source,
      bytesPerSecond: this.#bytesPerSecond,
      hear: (bytes) => this.#hearing.hear(bytes),
      low: () => this.#send({ type: 'budget.low' }),
      spent: (refusal) => this.#send({ type: 'budget.spent', ending: audioRefused(refusal) }),
      unheld: (error) => {
        this.#life.logError(error, 'a further slice of a transcription could not be held');
        this.#send({ type: 'budget.spent', ending: LEDGER_AWAY });
      },
      lost: () => this.#send({ type: 'claim.lost' }),
      away: (error) => this.#fail(LEDGER_AWAY, error),
      awayLate: (error) =>
        this.#life.logError(error, 'the ledger failed a transcription that was ending'),
    });
    const effects = this.#effects();
    const actor = createActor(transcriptionStreamMachine, {
      clock,
      input: {
        effects,
        quiet: input.dialect.quiet,
        unheld: LEDGER_AWAY,
        unfinished: TRANSCRIPT_UNFINISHED,
      },
    });
    this.#actor = new SessionActor(actor, { effects, life: this.#life });
    this.#actor.start();
  }

  /** Resolves when the stream is settled. */
  get settled(): Promise<void> {
    return this.#life.settled;
  }

  get isRelayed(): boolean {
    return this.#input.isRelayed;
  }

  attach(socket: RelayClient): void {
    this.#socket = socket;
    if (!this.isRelayed) this.#writer.attached?.();
    this.#hearing.attach(socket);
  }

  /** Resumes sending, because the client's send buffer has room again. */
  drained(): void {
    this.#hearing.drained();
  }

  audio(bytes: Uint8Array): void {
    if (bytes.length === 0 || !this.#isStreaming) return;
    const nowMs = this.#deps.clock.monotonicMs();
    const ms = (bytes.length / this.#bytesPerSecond) * 1_000;
    if (this.#allowance.take(ms, nowMs)) {
      this.#tally.arrived(ms, nowMs);
      this.#audio.push(bytes);
    } else {
      this.cutOff(TOO_FAST);
    }
  }

  /** Passes a client message on to the transcriber, in order with the audio. */
  message(type: string, text: string): void {
    this.#isStillThere();
    if (this.#isStreaming) this.#audio.whenHeard(() => this.#hearing.message(type, text));
  }

  /** Reports an invalid message to the client; the stream goes on. */
  misunderstood(reason: string): void {
    this.#isStillThere();
    if (this.#isStreaming) this.#writer.misunderstood(reason);
  }

  /** Ends a stream whose client violated a rule of the socket. */
  cutOff(ending: Ending): void {
    this.#send({ type: 'stream.failed', ending });
  }

  /**
   * Ends the audio; later audio is ignored. Audio that waits for a hold is transcribed if the hold is granted in time. Then the
   * remaining final words and the close frame are sent.
   */
  finish(): void {
    this.#send({ type: 'audio.finished' });
  }

  drain(): void {
    this.#send({ type: 'drain.requested' });
  }

  /**
   * Ends the stream after the client disconnected, or after the server gave the client up and closed its socket once all audio
   * is heard.
   */
  socketClosed(): void {
    this.#hearing.detach();
    this.#send({ type: 'socket.closed' });
  }

  #isStillThere(): void {
    this.#lastSeenAtMs = this.#deps.clock.monotonicMs();
  }

  #effects(): TranscriptionEffects {
    return {
      extendHold: () => this.#audio.extend(),
      passAudio: () => {
        this.#hearing.keep();
        this.#audio.whenHeard(() => this.#send({ type: 'audio.passed' }));
      },
      finishTranscript: () => this.#finishTranscript(),
      giveUpRest: () => this.#hearing.giveUp(),
      hangUp: (ending) => this.#hangUp(ending),
      settle: (ending) => this.#settle(ending),
      isOwed: () => this.#hearing.isOwed,
      leave: () => {
        this.#hearing.close();
        this.#life.leave();
      },
      quietInMs: () => Math.max(0, this.#quietAtMs - this.#deps.clock.monotonicMs()),
    };
  }

  /**
   * Time at which a stream without audio ends, on the monotonic clock. Messages delay it, up to `keptMs` after the last audio.
   */
  get #quietAtMs(): number {
    const { keptMs, quietMs } = this.#input.dialect;
    const keptUntilMs = Math.min(this.#lastSeenAtMs + quietMs, this.#allowance.lastAtMs + keptMs);
    return Math.max(this.#allowance.lastAtMs + quietMs, keptUntilMs);
  }

  get #isStreaming(): boolean {
    return this.#actor.snapshot.value === 'streaming';
  }

  /**
   * Reports progress to the state machine, only while the last words are awaited: before that, there would be too many events.
   */
  #progressed(): void {
    if (this.#isFinishing) this.#send({ type: 'transcript.progressed' });
  }

  #finishTranscript(): void {
    this.#isFinishing = true;
    this.#audio.stop();
    this.#hearing
      .finish()
      .then(() => this.#send({ type: 'transcript.finished' }))
      .catch((error: unknown) => this.#fail(ENGINE_FAILED, error));
  }

  #hangUp(ending: Ending): void {
    this.#audio.stop();
    // Frames that wait for a slow client also report the audio that was heard.
    this.#hearing.detach();
    this.#audio.heardUpTo(this.#hearing.heardSeconds);
    const total = { seconds: wholeMs(this.#audio.seconds) };
    const final = leavingOut(ending, wholeMs(this.#audio.droppedSeconds));
    this.#writer.ended(final, this.#hearing.hasReportedTotal ? undefined : total);
    this.#socket?.close(ending.code, ending.reason);
  }

  /** Journals the last audio, then starts the settlement, which waits for the journal. */
  #settle(ending: Ending): void {
    this.#audio.journal();
    this.#hearing.close();
    this.#tally.heard(this.#audio.seconds * 1_000);
    this.#life.settle(ending);
  }

  #fail(ending: Ending, error?: unknown): void {
    if (error !== undefined) {
      this.#life.logError(error, `transcription failed: ${ending.reason}`);
    }
    this.#send({ type: 'stream.failed', ending });
  }

  #send(event: TranscriptionStreamEvent): void {
    this.#actor.send(event);
  }
}
