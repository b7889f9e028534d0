import { type ActorRefFrom, createActor } from 'xstate';
import {
  type Ending,
  type TranscriptionEffects,
  type TranscriptionStreamEvent,
  transcriptionStreamMachine,
} from '../../machines/transcription-stream.ts';
import { bytesPerSample } from '../../media/coding.ts';
import type { SttListener, SttStream } from '../engines/engine.ts';
import { LIMITS } from '../kernel/limits.ts';
import { AudioAllowance } from './audio-allowance.ts';
import { PaidAudio } from './paid-audio.ts';
import type { AudioEncoding } from './realtime/audio-format.ts';
import type { ClientSocket } from './realtime/outlet.ts';
import type { VoiceDeps } from './voice-deps.ts';
import { type EarEvents, VoiceEar } from './voice-ear.ts';
import { audioRefused, BROKEN, ENGINE_FAILED, LEDGER_AWAY, TOO_FAST } from './voice-endings.ts';
import { VoiceLife } from './voice-life.ts';
import type { Purse, PurseOwner } from './voice-purse.ts';

export type TranscriptionInput = {
  readonly owner: PurseOwner;
  readonly purse: Purse;
  readonly encoding: AudioEncoding;
  readonly sampleRateHz: number;
  /** The recogniser that was taken for this stream before it was accepted. */
  readonly stt: SttStream;
  /** Tells the recogniser's listener, which had to exist before the stream; throws if it is gone by now. */
  readonly listen: (listener: SttListener) => void;
};

const ENDPOINTING = { threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 500 };

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
  readonly #actor: ActorRefFrom<typeof transcriptionStreamMachine>;
  #socket: ClientSocket | undefined;
  #lastAudioAtMs: number;
  #engineFailed = false;

  constructor(deps: VoiceDeps, input: TranscriptionInput) {
    const { clock } = deps;
    this.#deps = deps;
    this.#input = input;
    this.#bytesPerSecond = input.sampleRateHz * bytesPerSample(input.encoding);
    this.#allowance = new AudioAllowance(clock);
    this.#lastAudioAtMs = clock.monotonicMs();
    this.#life = new VoiceLife(deps, input);
    this.#ear = this.#openEar();
    this.#audio = new PaidAudio({
      purse: input.purse,
      source: input.owner.source,
      bytesPerSecond: this.#bytesPerSecond,
      hear: (bytes) => this.#ear.push(bytes),
      low: () => this.#tell({ type: 'budget.low' }),
      spent: (refusal) => this.#tell({ type: 'budget.spent', ending: audioRefused(refusal) }),
      lost: () => this.#tell({ type: 'claim.lost' }),
      away: (error) => this.#fail(LEDGER_AWAY, error),
    });
    const effects = this.#effects();
    this.#actor = createActor(transcriptionStreamMachine, { clock, input: { effects } });
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
    if (this.#actor.getSnapshot().value !== 'streaming') return;
    this.#lastAudioAtMs = this.#deps.clock.monotonicMs();
    if (this.#allowance.take((bytes.length / this.#bytesPerSecond) * 1_000)) {
      this.#audio.push(bytes);
    } else {
      this.#tell({ type: 'stream.failed', ending: TOO_FAST });
    }
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
    const { encoding, listen, sampleRateHz, stt } = this.#input;
    return new VoiceEar({
      ...{ clock, encoding, sampleRateHz },
      endpointing: ENDPOINTING,
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
      began: () => {},
      ended: () => {},
      segment: ({ text, isFinal }) =>
        this.#send({ type: 'transcript', text, is_final: isFinal, speech_final: false }),
      heard: ({ tail, latencyMs }) => {
        this.#deps.metrics.stage('final', latencyMs);
        const final = { text: tail, is_final: true, speech_final: true };
        this.#send({ type: 'transcript', ...final, latency_ms: latencyMs });
      },
      failed: (error) => {
        this.#engineFailed = true;
        this.#fail(ENGINE_FAILED, error);
      },
    };
  }

  #effects(): TranscriptionEffects {
    const quietAtMs = () => this.#lastAudioAtMs + LIMITS.transcriptionIdleSeconds * 1_000;
    return {
      extendHold: () => this.#audio.extend(),
      finishTranscript: () => this.#finishTranscript(),
      hangUp: (ending) => this.#hangUp(ending),
      settle: (ending) => this.#settle(ending),
      leave: () => this.#life.leave(),
      quietInMs: () => Math.max(0, quietAtMs() - this.#deps.clock.monotonicMs()),
    };
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
    if (ending.error !== undefined) this.#send({ type: 'error', ...ending.error });
    this.#socket?.close(ending.code, ending.reason);
  }

  /** Audio that was heard since the last line of the journal goes before the settlement, which waits. */
  #settle(ending: Ending): void {
    this.#audio.journal();
    this.#deps.metrics.audioSeconds(this.#audio.seconds);
    this.#life.settle(ending);
  }

  #fail(ending: Ending, error: unknown): void {
    this.#life.logError(error, `transcription failed: ${ending.reason}`);
    this.#tell({ type: 'stream.failed', ending });
  }

  #send(fields: Readonly<Record<string, unknown>>): void {
    this.#socket?.send(JSON.stringify(fields));
  }

  /** What is told to a stream that is over means nothing any more. */
  #tell(event: TranscriptionStreamEvent): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send(event);
  }
}
