import type { StopSignal } from '../../../kernel/stop-signal.ts';
import type { Outcome } from '../outcome.ts';

/** Listener of an upstream's open socket. `closed` is called last, and once. */
export type UpstreamListener = {
  /** Receives a frame of the upstream. The listener may keep the bytes. */
  frame(bytes: Buffer, isBinary: boolean): void;
  /** Receives the close code and reason; the code is 1006 when the socket ended without a close frame. */
  closed(code: number, reason: string): void;
};

/** Open session at an upstream. It delivers nothing before it has a listener. Every method may be called at any time. */
export interface UpstreamSocket {
  /** Bytes that were sent and the upstream has not taken. */
  readonly unsentBytes: number;
  /** Sets the listener, which gets every frame from the first on. May be called once. */
  listen(listener: UpstreamListener): void;
  /** Sends a frame. The caller may reuse the bytes when this returns. */
  send(bytes: Uint8Array, isBinary: boolean): void;
  /** Pauses reading. A few frames that have already arrived may still be delivered. */
  pause(): void;
  resume(): void;
  close(): void;
}

export type RealtimeCall = {
  readonly agentId: number;
  /** Name of the model at the upstream. */
  readonly model: string;
  /** The developer's own key at the provider, used in place of this server's key. */
  readonly ownKey?: string | undefined;
};

export type ListenCall = RealtimeCall & {
  /** True for the socket that reports turns, which has another address at the upstream. */
  readonly isOfTurns?: boolean;
  /** Query parameters for the upstream: the format of the audio, and options. A name may occur more than once. */
  readonly options: readonly (readonly [name: string, value: string])[];
};

/** A way to live sessions of one kind at one upstream. Failures of the upstream are outcomes and not rejections. */
export interface LiveRail<Call extends RealtimeCall> {
  connect(call: Call, signal: StopSignal): Promise<Outcome<{ readonly socket: UpstreamSocket }>>;
}

export type RealtimeRail = LiveRail<RealtimeCall>;
export type ListenRail = LiveRail<ListenCall>;
