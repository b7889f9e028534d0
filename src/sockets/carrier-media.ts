import { DRAINING } from '../../machines/draining.ts';
import { requestErrors } from '../http/route/errors.ts';
import type { CarrierSocket, SocketConnection, SocketHandler } from '../http/route/socket-route.ts';
import type { Clock, TimerHandle } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { CarrierHooks } from '../phone/calls/calls.ts';
import type { LiveCall } from '../phone/calls/live-call.ts';
import { CallbackMalformed, type MediaCodec, type MediaEvent } from '../phone/carriers/carrier.ts';
import { phoneErrors } from '../phone/errors.ts';
import { PHONE_LIMITS } from '../phone/limits.ts';

const PATH = '/v1/telephony/:carrier/media';

/** Number of messages kept for a stream whose call is being opened. They are handled once the call is open. */
const MOST_WAITING = 100;

type Deps = {
  readonly clock: Clock;
  readonly publicOrigin: string;
  /** Upper bound of the open sockets that have not received the carrier's `start` message. */
  readonly mostUnstarted?: number;
};

/**
 * Creates the socket for media streams of carriers. An upgrade without its carrier's signature gets a 403. The carrier's first
 * message, `start`, names the call: a socket without `start` within `PHONE_LIMITS.media.startMs` is closed.
 */
export function createCarrierMediaSocket(
  hooks: CarrierHooks,
  { clock, publicOrigin, mostUnstarted = PHONE_LIMITS.media.unstarted }: Deps,
): CarrierSocket {
  const origin = publicOrigin.replace(/^http/, 'ws');
  const unstarted = new Set<MediaHandler>();
  return {
    path: PATH,
    credential: 'carrier',
    summary: 'The sound of a call, from and to its carrier',
    protocols: [],
    maxMessageBytes: PHONE_LIMITS.media.messageBytes,
    open({ believe, headers, log, url }) {
      const carrier = url.split('/')[3] ?? '';
      const request = { url: `${origin}${url}`, headers: Object.fromEntries(headers) };
      if (!hooks.isGenuineUpgrade(carrier, request)) throw phoneErrors.forgedCallback();
      believe();
      if (unstarted.size >= mostUnstarted) throw requestErrors.tooManySessions(mostUnstarted);
      return new MediaHandler({ hooks, codec: hooks.openMedia(carrier), clock, log, unstarted });
    },
  };
}

type MediaDeps = {
  readonly hooks: CarrierHooks;
  readonly codec: MediaCodec;
  readonly clock: Clock;
  readonly log: Log;
  /** The handlers that wait for `start`. Each handler adds and removes itself. */
  readonly unstarted: Set<MediaHandler>;
};

class MediaHandler implements SocketHandler {
  readonly #hooks: CarrierHooks;
  readonly #codec: MediaCodec;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #unstarted: Set<MediaHandler>;
  #deadline: TimerHandle | undefined;
  #connection: SocketConnection | undefined;
  #call: LiveCall | undefined;
  /** Copies of the messages that arrived before the call was open. Undefined once the call is open or will not be opened. */
  #waiting: MediaEvent[] | undefined = [];
  #hasStarted = false;
  #isMalformed = false;

  constructor({ clock, codec, hooks, log, unstarted }: MediaDeps) {
    this.#hooks = hooks;
    this.#codec = codec;
    this.#clock = clock;
    this.#log = log;
    this.#unstarted = unstarted;
    unstarted.add(this);
  }

  opened(connection: SocketConnection): void {
    this.#connection = connection;
    this.#deadline = this.#clock.setTimeout(() => {
      connection.close(1008, 'no start message came');
    }, PHONE_LIMITS.media.startMs);
  }

  message(): void {}

  frame(bytes: Uint8Array): void {
    const event = this.#read(bytes);
    if (event === undefined) return;
    if (event.kind === 'started') this.#start(event);
    else if (this.#call !== undefined) this.#call.media(event);
    else this.#keep(event);
  }

  draining(): void {
    // A call that has begun drains by itself, and closes its media stream.
    if (!this.#hasStarted) this.#connection?.close(DRAINING.code, DRAINING.reason);
  }

  closed(): void {
    this.#endWait();
    const connection = this.#connection;
    this.#connection = undefined;
    this.#waiting = undefined;
    this.#call?.detached(connection);
  }

  /**
   * Returns the media event in a carrier's message. On a malformed message, closes the stream and returns undefined, as for
   * every later message.
   */
  #read(bytes: Uint8Array): MediaEvent | undefined {
    if (this.#isMalformed) return undefined;
    try {
      return this.#codec.read(bytes);
    } catch (err) {
      if (!(err instanceof CallbackMalformed)) throw err;
      this.#isMalformed = true;
      this.#log.warn({ err }, 'a media stream is closed: its carrier sent a malformed message');
      this.#connection?.close(1007, 'malformed message');
      return undefined;
    }
  }

  #start({ callId, format }: Extract<MediaEvent, { kind: 'started' }>): void {
    const connection = this.#connection;
    if (this.#hasStarted || connection === undefined || callId === undefined) {
      connection?.close(1008, 'no call of this server');
      return;
    }
    this.#hasStarted = true;
    this.#endWait();
    this.#hooks
      .answerMedia({ callId, codec: this.#codec, format, connection })
      .then((call) => this.#ready(call, connection))
      .catch((err: unknown) => {
        this.#log.error({ err, callId }, 'a call could not be opened');
        connection.close(1011, 'internal error');
      });
  }

  #endWait(): void {
    this.#unstarted.delete(this);
    if (this.#deadline !== undefined) this.#clock.clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }

  #ready(call: LiveCall | undefined, connection: SocketConnection): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    if (call === undefined) {
      this.#connection?.close(1008, 'no call is waiting for this stream');
      return;
    }
    this.#call = call;
    for (const event of waiting) call.media(event);
    if (this.#connection === undefined) call.detached(connection);
  }

  #keep(event: MediaEvent): void {
    if (this.#waiting === undefined || this.#waiting.length >= MOST_WAITING) return;
    this.#waiting.push(
      event.kind === 'media' ? { ...event, bytes: Uint8Array.from(event.bytes) } : event,
    );
  }
}
