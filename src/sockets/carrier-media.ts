import type {
  CarrierSocket,
  SocketConnection,
  SocketHandler,
} from '../http/websocket/socket-route.ts';
import { DRAINING } from '../kernel/draining.ts';
import { errors } from '../kernel/errors.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Log } from '../kernel/log.ts';
import type { CarrierHooks } from '../phone/calls/calls.ts';
import type { LiveCall } from '../phone/calls/live-call.ts';
import type { MediaCodec, MediaEvent } from '../phone/carriers/carrier.ts';

const PATH = '/v1/telephony/:carrier/media';

/** Messages of a stream whose call is being opened: what the far side says meanwhile is heard afterwards. */
const MOST_WAITING = 100;

/** The media streams of carriers. Without the signature of its carrier an upgrade is a 403. */
export function createCarrierMediaSocket(
  hooks: CarrierHooks,
  { publicOrigin }: { readonly publicOrigin: string },
): CarrierSocket {
  const origin = publicOrigin.replace(/^http/, 'ws');
  return {
    path: PATH,
    credential: 'carrier',
    summary: 'The sound of a call, from and to its carrier',
    protocols: [],
    maxMessageBytes: LIMITS.phone.mediaMessageBytes,
    open({ headers, log, url }) {
      const carrier = url.split('/')[3] ?? '';
      const request = { url: `${origin}${url}`, headers: Object.fromEntries(headers) };
      if (!hooks.isGenuineUpgrade(carrier, request)) throw errors.phone.forgedCallback();
      return new MediaHandler(hooks, hooks.openMedia(carrier), log);
    },
  };
}

class MediaHandler implements SocketHandler {
  readonly #hooks: CarrierHooks;
  readonly #codec: MediaCodec;
  readonly #log: Log;
  #connection: SocketConnection | undefined;
  #call: LiveCall | undefined;
  /** Copies of what came before the call was open; undefined: it is open, or is not to be. */
  #waiting: MediaEvent[] | undefined = [];
  #hasStarted = false;

  constructor(hooks: CarrierHooks, codec: MediaCodec, log: Log) {
    this.#hooks = hooks;
    this.#codec = codec;
    this.#log = log;
  }

  opened(connection: SocketConnection): void {
    this.#connection = connection;
  }

  message(): void {}

  frame(bytes: Uint8Array): void {
    const event = this.#codec.read(bytes);
    if (event.kind === 'started') this.#start(event);
    else if (this.#call !== undefined) this.#call.media(event);
    else this.#keep(event);
  }

  draining(): void {
    // A call that has begun is drained itself, and closes its stream.
    if (!this.#hasStarted) this.#connection?.close(DRAINING.code, DRAINING.reason);
  }

  closed(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#waiting = undefined;
    this.#call?.detached(connection);
  }

  #start({ callId, format }: Extract<MediaEvent, { kind: 'started' }>): void {
    const connection = this.#connection;
    if (this.#hasStarted || connection === undefined || callId === undefined) {
      connection?.close(1008, 'no call of this server');
      return;
    }
    this.#hasStarted = true;
    this.#hooks
      .answerMedia({ callId, codec: this.#codec, format, connection })
      .then((call) => this.#ready(call, connection))
      .catch((err: unknown) => {
        this.#log.error({ err, callId }, 'a call could not be opened');
        connection.close(1011, 'internal error');
      });
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
