import { z } from 'zod';
import { DRAINING } from '../../../machines/draining.ts';
import {
  type SocketConnection,
  type SocketHandler,
  socketRoute,
} from '../../http/route/socket-route.ts';
import { ApiError, type Fields } from '../../kernel/api-error.ts';
import type { TimerHandle } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { SPEND_LIMITS } from '../../spend/limits.ts';
import type { Cascades } from '../../voice/cascade/cascade-deps.ts';
import { EventAllowance } from '../../voice/live/event-allowance.ts';
import type { VoiceDeps } from '../../voice/live/voice-deps.ts';
import { BROKEN, TOO_MANY_EVENTS } from '../../voice/live/voice-endings.ts';
import type { Relays } from '../../voice/relay/connect-relay.ts';
import { type EventProblem, eventIdOf } from '../openai-realtime/client-event.ts';
import { errorType } from '../openai-realtime/event-sender.ts';
import { OPENAI_LIVE } from '../openai-sockets.ts';
import { readSocketBuyer } from '../read-socket-buyer.ts';
import type { SocketSession } from '../socket-session.ts';
import { tracedFrom } from '../traced-from.ts';
import { type RawLiveEvent, readRawEvent } from './client-event.ts';
import { LIVE_LIMITS } from './limits.ts';
import type { LiveRelay } from './live-relay.ts';
import { LiveSender } from './live-sender.ts';
import { type LiveDeps, type LiveOpening, openLiveSession } from './open-live.ts';

const Query = z.object({
  /** Transcription model and speech model of a session with a text model. */
  stt_model: z.string().min(1).max(MODEL_LIMITS.idChars).optional(),
  tts_model: z.string().min(1).max(MODEL_LIMITS.idChars).optional(),
  customer_id: z.string().max(SPEND_LIMITS.tag.idChars).optional(),
});

/**
 * Voice sessions in the protocol of OpenAI's live models: the first message, `session.start`, names the model. Served with
 * the engines and chat models of this server, or relayed to an upstream and metered by the seconds that it reports.
 */
export const createLiveSocket = (deps: VoiceDeps, relays?: Relays, cascades?: Cascades) =>
  socketRoute()({
    path: '/v1/live/sessions',
    summary: 'Talk with a model, for clients of OpenAI’s live sessions.',
    ...OPENAI_LIVE,
    query: Query,
    open(context) {
      const { customer_id, ...parts } = context.query;
      const buyer = readSocketBuyer(context, customer_id);
      const served = { ...tracedFrom(deps, context), relays, cascades };
      return new LiveHandler(served, { buyer, parts }, context.log);
    },
  });

const NOT_STARTED: EventProblem = {
  code: 'session_not_started',
  message: 'Send session.start, and wait for session.started.',
  param: 'type',
};
const START_LATE: EventProblem = {
  code: 'session_not_started',
  message: `No session.start came for ${LIVE_LIMITS.startMs / 1_000} s.`,
};

/** One socket: it waits for `session.start`, opens the session, and passes everything after that to the session. */
class LiveHandler implements SocketHandler {
  readonly #deps: LiveDeps;
  readonly #opening: Omit<LiveOpening, 'event'>;
  readonly #log: Log;
  readonly #sender: LiveSender;
  readonly #allowance: EventAllowance;
  /** Fires when the client leaves before its session has opened. */
  readonly #left = new AbortController();
  #connection: SocketConnection | undefined;
  #session: SocketSession | LiveRelay | undefined;
  #startTimer: TimerHandle | undefined;
  #isOpening = false;
  #isDraining = false;

  constructor(deps: LiveDeps, opening: Omit<LiveOpening, 'event'>, log: Log) {
    const { clock, random } = deps;
    this.#deps = deps;
    this.#opening = { ...opening, buyer: { ...opening.buyer, signal: this.#left.signal } };
    this.#log = log;
    this.#sender = new LiveSender(random);
    this.#allowance = new EventAllowance(clock.monotonicMs());
  }

  opened(connection: SocketConnection): void {
    this.#connection = connection;
    this.#sender.attach(connection);
    this.#startTimer = this.#deps.clock.setTimeout(
      () => this.#refuse(START_LATE, 400),
      LIVE_LIMITS.startMs,
    );
  }

  message(): void {}

  /** Handles a client's frame. The protocol is text only, so an event in a binary frame counts as text. */
  frame(bytes: Uint8Array): void {
    if (this.#session !== undefined) {
      this.#session.frame(bytes);
      return;
    }
    if (!this.#allowance.take(this.#deps.clock.monotonicMs())) {
      this.#sender.end(TOO_MANY_EVENTS);
      return;
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    const read = readRawEvent(text);
    if ('problem' in read) this.#sender.refuse(read.problem);
    else if (this.#isOpening || read.raw.type !== 'session.start') {
      this.#sender.refuse({ ...NOT_STARTED, eventId: eventIdOf(read.raw) });
    } else void this.#start(read.raw);
  }

  drained(): void {
    this.#session?.drained();
  }

  draining(): void {
    this.#isDraining = true;
    if (this.#session !== undefined) this.#session.drain();
    else if (!this.#isOpening) this.#sender.end(DRAINING);
  }

  closed(): void {
    this.#rest();
    this.#left.abort();
    this.#session?.socketClosed();
  }

  async #start(event: RawLiveEvent): Promise<void> {
    this.#isOpening = true;
    this.#rest();
    try {
      const opened = await openLiveSession(this.#deps, { ...this.#opening, event });
      if ('problem' in opened) this.#refuse(opened.problem, 400);
      else this.#go(opened.session);
    } catch (thrown) {
      this.#refuseWith(thrown, eventIdOf(event));
    }
  }

  #go(session: SocketSession | LiveRelay): void {
    const connection = this.#connection;
    if (this.#left.signal.aborted || connection === undefined) {
      session.socketClosed();
      return;
    }
    this.#session = session;
    session.attach(connection);
    if (this.#isDraining) session.drain();
  }

  #refuseWith(thrown: unknown, eventId: string | null): void {
    if (!(thrown instanceof ApiError)) {
      if (!this.#left.signal.aborted) this.#log.error({ err: thrown }, 'a live session broke');
      this.#sender.end(BROKEN);
      return;
    }
    const { error: code, status } = thrown;
    const { message: text, param: where, detail: _, ...fields } = thrown.fields;
    const message = typeof text === 'string' ? text : code;
    const param = typeof where === 'string' ? where : null;
    const details = { ...retryAfter(thrown), ...fields };
    this.#refuse({ code, message, param, eventId }, status, details);
  }

  /** Sends the problem of a session that cannot begin, and closes the socket. */
  #refuse(problem: EventProblem, status: number, details: Fields = {}): void {
    const isOurs = status >= 500;
    const type = errorType(problem.code, isOurs ? 'server_error' : 'invalid_request_error');
    this.#sender.error(type, problem, details);
    this.#sender.end({ code: isOurs ? 1011 : 1008, reason: problem.code });
  }

  /** Stops waiting for `session.start`. */
  #rest(): void {
    if (this.#startTimer !== undefined) this.#deps.clock.clearTimeout(this.#startTimer);
    this.#startTimer = undefined;
  }
}

/** Returns the seconds until a retry, which an HTTP response carries in its `retry-after` header. */
function retryAfter({ headers }: ApiError): Fields {
  const seconds = headers['retry-after'];
  return seconds === undefined ? {} : { retry_after_seconds: Number(seconds) };
}
