import { type ActorRefFrom, createActor } from 'xstate';
import {
  type Ending,
  type TranscriptionEffects,
  type TranscriptionStreamEvent,
  transcriptionStreamMachine,
} from '../../machines/transcription-stream.ts';
import { bytesPerSample } from '../../media/coding.ts';
import type { SttListener, SttStream } from '../engines/engine.ts';
import { AudioAllowance } from './audio-allowance.ts';
import type { EarEvents } from './ear-events.ts';
import { PaidAudio } from './paid-audio.ts';
import type { AudioEncoding } from './realtime/audio-format.ts';
import type { ClientSocket } from './realtime/outlet.ts';
import { SessionTally } from './session-tally.ts';
import type { TranscriptDialect, TranscriptWriter } from './transcription/dialect.ts';
import type { VoiceDeps } from './voice-deps.ts';
import { VoiceEar } from './voice-ear.ts';
import { audioRefused, BROKEN, ENGINE_FAILED, LEDGER_AWAY, TOO_FAST } from './voice-endings.ts';
import { VoiceLife } from './voice-life.ts';
import type { Purse, PurseOwner } from './voice-purse.ts';

export type TranscriptionInput = {
  readonly owner: PurseOwner;
  readonly purse: Purse;
  readonly encoding: AudioEncoding;
  readonly sampleRateHz: number;
  readonly dialect: TranscriptDialect;
  /** The recogniser that was taken for this stream before it was accepted. */
  readonly stt: SttStream;
  /** Tells the recogniser's listener, which had to exist before the stream; throws if it is gone by now. */
  readonly listen: (listener: SttListener) => void;
};

const SPEECH = { threshold: 0.5, prefixPaddingMs: 300 };

/**
 * A live transcription as its socket drives it. Its actor decides what happens when; it owns the
 * recogniser and the reserve, and is settled exactly once, however it ends.
 */
export class TranscriptionStream {
  readonly #deps: VoiceDeps;
  readonly #input: TranscriptionInput;
  readonly #bytesPerSecond: number;
  readonly #allowance: AudioAllowance;
  readonly #ear: VoiceEar;
  readonly #audio: PaidAudio;
  readonly #life: VoiceLife;
  readonly #tally: SessionTally;
  readonly #actor: ActorRefFrom<typeof transcriptionStreamMachine>;
  readonly #writer: TranscriptWriter;
  #socket: ClientSocket | undefined;
  #lastAudioAtMs: number;
  #lastWordAtMs: number;
  #engineFailed = false;

  constructor(deps: VoiceDeps, input: TranscriptionInput) {
    const { clock } = deps;
    this.#deps = deps;
    this.#input = input;
    this.#bytesPerSecond = input.sampleRateHz * bytesPerSample(input.encoding);
    this.#allowance = new AudioAllowance(clock);
    this.#lastAudioAtMs = clock.monotonicMs();
    this.#lastWordAtMs = this.#lastAudioAtMs;
    this.#writer = input.dialect.writer((message) => this.#socket?.send(JSON.stringify(message)));
    this.#tally = new SessionTally({ ...deps, kind: 'transcription' });
    this.#life = new VoiceLife(deps, { ...input, tally: this.#tally });
    this.#ear = this.#openEar();
    this.#audio = new PaidAudio({
      purse: input.purse,
      source: input.owner.source,
      bytesPerSecond: this.#bytesPerSecond,
      hear: (bytes) => this.#hear(bytes),
      low: () => this.#tell({ type: 'budget.low' }),
      spent: (refusal) => this.#tell({ type: 'budget.spent', ending: audioRefused(refusal) }),
      lost: () => this.#tell({ type: 'claim.lost' }),
      away: (error) => this.#fail(LEDGER_AWAY, error),
    });
    const effects = this.#effects();
    this.#actor = createActor(transcriptionStreamMachine, {
      ...{ clock, input: { effects, quiet: input.dialect.quiet } },
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

  attach(socket: ClientSocket): void {
    this.#socket = socket;
  }

  audio(bytes: Uint8Array): void {
    if (bytes.length === 0 || !this.#isStreaming) return;
    this.#lastAudioAtMs = this.#deps.clock.monotonicMs();
    const ms = (bytes.length / this.#bytesPerSecond) * 1_000;
    if (this.#allowance.take(ms)) {
      this.#tally.arrived(ms);
      this.#audio.push(bytes);
    } else {
      this.cutOff(TOO_FAST);
    }
  }

  /** The client is still there, though it has nothing to say. */
  keepAlive(): void {
    this.#lastWordAtMs = this.#deps.clock.monotonicMs();
  }

  /** The client wants to know now what was said up to here. */
  finalize(): void {
    this.keepAlive();
    if (this.#isStreaming) this.#audio.whenHeard(() => this.#finalize());
  }

  /** A message that means nothing: the client is told so, and the stream goes on. */
  misunderstood(reason: string): void {
    this.keepAlive();
    if (this.#isStreaming) this.#writer.misunderstood(reason);
  }

  /** The client broke a rule of its socket. */
  cutOff(ending: Ending): void {
    this.#tell({ type: 'stream.failed', ending });
  }

  /** No more audio comes: the remaining finals are sent, then the socket closes 1000. */
  finish(): void {
    this.#audio.whenHeard(() => this.#tell({ type: 'audio.finished' }));
  }

  drain(): void {
    this.#tell({ type: 'drain.requested' });
  }

  socketClosed(): void {
    this.#tell({ type: 'socket.closed' });
  }

  #openEar(): VoiceEar {
    const { clock, engines, speechGates } = this.#deps;
    const { dialect, encoding, listen, sampleRateHz, stt } = this.#input;
    return new VoiceEar({
      ...{ clock, encoding, sampleRateHz },
      endpointing: { ...SPEECH, silenceDurationMs: dialect.silenceDurationMs },
      vad: engines.vad,
      gates: speechGates,
      openStt: async (listener) => {
        // One recogniser a stream: it was taken at the upgrade, and a second is not to be had.
        if (this.#engineFailed) throw new Error('the recogniser of this stream is gone');
        listen(listener);
        return stt;
      },
      events: this.#earEvents(),
    });
  }

  #earEvents(): EarEvents {
    return {
      began: (atMs) => this.#writer.began(atMs),
      ended: () => {},
      segment: (segment) => this.#writer.segment(segment),
      heard: (heard) => {
        this.#tally.stage('final', heard.latencyMs);
        this.#tally.turnEnded();
        this.#writer.heard(heard);
      },
      failed: (error) => {
        this.#engineFailed = true;
        this.#fail(ENGINE_FAILED, error);
      },
    };
  }

  #effects(): TranscriptionEffects {
    return {
      extendHold: () => this.#audio.extend(),
      finishTranscript: () => this.#finishTranscript(),
      hangUp: (ending) => this.#hangUp(ending),
      settle: (ending) => this.#settle(ending),
      leave: () => this.#life.leave(),
      quietInMs: () => Math.max(0, this.#quietAtMs - this.#deps.clock.monotonicMs()),
    };
  }

  /** Words put the end off, but not for ever. */
  get #quietAtMs(): number {
    const { keptMs, quietMs } = this.#input.dialect;
    const keptUntilMs = Math.min(this.#lastWordAtMs + quietMs, this.#lastAudioAtMs + keptMs);
    return Math.max(this.#lastAudioAtMs + quietMs, keptUntilMs);
  }

  get #isStreaming(): boolean {
    return this.#actor.getSnapshot().value === 'streaming';
  }

  #hear(bytes: Uint8Array): void {
    this.#ear.push(bytes);
    this.#writer.took(bytes, this.#ear.nowMs);
  }

  #finalize(): void {
    const atMs = this.#ear.nowMs;
    if (this.#ear.commit()) return;
    const tell = () => {
      if (this.#isStreaming) this.#writer.nothingLeft(atMs);
    };
    this.#ear
      .transcribed()
      .then(tell)
      .catch((error: unknown) => this.#fail(ENGINE_FAILED, error));
  }

  #finishTranscript(): void {
    this.#audio.stop();
    this.#ear
      .finish()
      .then(() => this.#tell({ type: 'transcript.finished' }))
      .catch((error: unknown) => this.#fail(ENGINE_FAILED, error));
  }

  #hangUp(ending: Ending): void {
    this.#audio.stop();
    this.#ear.close();
    this.#input.stt.close();
    this.#writer.ended(ending, { seconds: Math.round(this.#audio.seconds * 1_000) / 1_000 });
    this.#socket?.close(ending.code, ending.reason);
  }

  /** Audio that was heard since the last line of the journal goes before the settlement, which waits. */
  #settle(ending: Ending): void {
    this.#audio.journal();
    this.#tally.heard(this.#audio.seconds * 1_000);
    this.#life.settle(ending);
  }

  #fail(ending: Ending, error: unknown): void {
    this.#life.logError(error, `transcription failed: ${ending.reason}`);
    this.#tell({ type: 'stream.failed', ending });
  }

  /** What is told to a stream that is over means nothing any more. */
  #tell(event: TranscriptionStreamEvent): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send(event);
  }
}
