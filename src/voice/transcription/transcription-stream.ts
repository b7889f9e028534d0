import { type ActorRefFrom, createActor } from 'xstate';
import {
  type Ending,
  type TranscriptionEffects,
  type TranscriptionStreamEvent,
  transcriptionStreamMachine,
} from '../../../machines/transcription-stream.ts';
import { bytesPerSample } from '../../../media/coding.ts';
import { AudioAllowance } from '../billing/audio-allowance.ts';
import { PaidAudio } from '../billing/paid-audio.ts';
import type { SessionHold, SessionHoldOwner } from '../billing/session-hold.ts';
import type { RelayClient } from '../relay/downlink.ts';
import type { AudioEncoding } from '../session/audio-format.ts';
import { SessionTally } from '../session/session-tally.ts';
import type { VoiceDeps } from '../session/voice-deps.ts';
import {
  audioRefused,
  BROKEN,
  ENGINE_FAILED,
  LEDGER_AWAY,
  leavingOut,
  TOO_FAST,
  TRANSCRIPT_UNFINISHED,
} from '../session/voice-endings.ts';
import { VoiceLife } from '../session/voice-life.ts';
import type { TranscriptDialect, TranscriptWriter } from './dialect.ts';
import type { StreamTranscriber, StreamTranscriberEvents } from './stream-transcriber.ts';

export type TranscriptionInput = {
  readonly owner: SessionHoldOwner;
  readonly sessionHold: SessionHold;
  readonly encoding: AudioEncoding;
  readonly sampleRateHz: number;
  readonly dialect: TranscriptDialect;
  /** Whether an upstream hears it: its client's every word goes on. */
  readonly isRelayed: boolean;
  readonly openTranscriber: (stage: StreamTranscriberEvents) => StreamTranscriber;
};

type StreamDeps = Pick<VoiceDeps, 'clock' | 'sessions' | 'metrics' | 'log'>;

const wholeMs = (seconds: number): number => Math.round(seconds * 1_000) / 1_000;

/**
 * A live transcription as its socket drives it. Its actor decides what happens when; it owns
 * its transcriber and the reserve, and is settled exactly once, however it ends.
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
  readonly #actor: ActorRefFrom<typeof transcriptionStreamMachine>;
  readonly #writer: TranscriptWriter;
  #isFinishing = false;
  #socket: RelayClient | undefined;
  #lastWordAtMs: number;

  constructor(deps: StreamDeps, input: TranscriptionInput) {
    const { clock } = deps;
    this.#deps = deps;
    this.#input = input;
    this.#bytesPerSecond = input.sampleRateHz * bytesPerSample(input.encoding);
    this.#allowance = new AudioAllowance(clock.monotonicMs());
    this.#lastWordAtMs = this.#allowance.lastAtMs;
    this.#writer = input.dialect.writer((message) => this.#socket?.send(JSON.stringify(message)));
    this.#tally = new SessionTally({ ...deps, kind: 'transcription' });
    this.#life = new VoiceLife(deps, { ...input, tally: this.#tally });
    this.#hearing = input.openTranscriber({
      writer: this.#writer,
      told: (seconds) => {
        this.#audio.told(seconds);
        this.#progressed();
      },
      progressed: () => this.#progressed(),
      madeOut: (latencyMs) => {
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
      low: () => this.#tell({ type: 'budget.low' }),
      spent: (refusal) => this.#tell({ type: 'budget.spent', ending: audioRefused(refusal) }),
      unheld: (error) => {
        this.#life.logError(error, 'a further slice of a transcription could not be held');
        this.#tell({ type: 'budget.spent', ending: LEDGER_AWAY });
      },
      lost: () => this.#tell({ type: 'claim.lost' }),
      away: (error) => this.#fail(LEDGER_AWAY, error),
      awayLate: (error) =>
        this.#life.logError(error, 'the ledger failed a transcription that was ending'),
    });
    const effects = this.#effects();
    this.#actor = createActor(transcriptionStreamMachine, {
      clock,
      input: {
        effects,
        quiet: input.dialect.quiet,
        unheld: LEDGER_AWAY,
        unfinished: TRANSCRIPT_UNFINISHED,
      },
    });
    this.#actor.subscribe({
      error: (error) =>
        this.#life.broke(error, [() => effects.hangUp(BROKEN), () => effects.settle(BROKEN)]),
    });
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
    this.#hearing.attach(socket);
  }

  /** The client has taken what was unsent. */
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

  /** A message of the client beside its audio, of this type, for the transcriber, in the order of its arrival. */
  word(type: string, text: string): void {
    this.#isStillThere();
    if (this.#isStreaming) this.#audio.whenHeard(() => this.#hearing.word(type, text));
  }

  /** A message that means nothing: the client is told so, and the stream goes on. */
  misunderstood(reason: string): void {
    this.#isStillThere();
    if (this.#isStreaming) this.#writer.misunderstood(reason);
  }

  /** The client broke a rule of its socket. */
  cutOff(ending: Ending): void {
    this.#tell({ type: 'stream.failed', ending });
  }

  /**
   * No more audio comes, and what comes all the same is ignored. What waits for money is heard if there is some within
   * so long; the remaining finals are sent, then a close 1000, or with what was left out.
   */
  finish(): void {
    this.#tell({ type: 'audio.finished' });
  }

  drain(): void {
    this.#tell({ type: 'drain.requested' });
  }

  /** The client is gone, or is given up: a socket that still stands is closed when all is heard. */
  socketClosed(): void {
    this.#hearing.detach();
    this.#tell({ type: 'socket.closed' });
  }

  #isStillThere(): void {
    this.#lastWordAtMs = this.#deps.clock.monotonicMs();
  }

  #effects(): TranscriptionEffects {
    return {
      extendHold: () => this.#audio.extend(),
      passAudio: () => {
        this.#hearing.keep();
        this.#audio.whenHeard(() => this.#tell({ type: 'audio.passed' }));
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

  /** Words put the end off, but not for ever. */
  get #quietAtMs(): number {
    const { keptMs, quietMs } = this.#input.dialect;
    const keptUntilMs = Math.min(this.#lastWordAtMs + quietMs, this.#allowance.lastAtMs + keptMs);
    return Math.max(this.#allowance.lastAtMs + quietMs, keptUntilMs);
  }

  get #isStreaming(): boolean {
    return this.#actor.getSnapshot().value === 'streaming';
  }

  /** Asked while the last words are waited for only: before that there are too many events to report each. */
  #progressed(): void {
    if (this.#isFinishing) this.#tell({ type: 'transcript.progressed' });
  }

  #finishTranscript(): void {
    this.#isFinishing = true;
    this.#audio.stop();
    this.#hearing
      .finish()
      .then(() => this.#tell({ type: 'transcript.finished' }))
      .catch((error: unknown) => this.#fail(ENGINE_FAILED, error));
  }

  #hangUp(ending: Ending): void {
    this.#audio.stop();
    // What was kept back for a client that is behind tells what was heard, too.
    this.#hearing.detach();
    this.#audio.told(this.#hearing.heardSeconds);
    const total = { seconds: wholeMs(this.#audio.seconds) };
    const told = leavingOut(ending, wholeMs(this.#audio.droppedSeconds));
    this.#writer.ended(told, this.#hearing.hasToldTotal ? undefined : total);
    this.#socket?.close(ending.code, ending.reason);
  }

  /** Audio that was heard since the last line of the journal goes before the settlement, which waits. */
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
    this.#tell({ type: 'stream.failed', ending });
  }

  /** What is told to a stream that is over means nothing any more. */
  #tell(event: TranscriptionStreamEvent): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send(event);
  }
}
