import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import { writeWhole } from '../../kernel/json/write-json.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import { joinPieces } from '../../kernel/long-work.ts';
import { ReportedError } from '../providers/reported-error.ts';
import { lastEvent } from '../providers/responses/response-event.ts';
import type { ResponseEvents, WholeResponse } from '../providers/responses/responses-rail.ts';
import type { Relayed } from '../purchase/answer.ts';
import { budgetOf, type StreamedAnswer } from '../purchase/answer-events.ts';
import { priceMembers } from '../purchase/price-in-usage.ts';
import { type Price, receiptHeaders, streamHeaders } from '../purchase/receipt.ts';
import { relayStream } from '../purchase/relay-stream.ts';
import type { HeldPurchase } from '../purchase/settle.ts';
import { priceComments } from '../purchase/stream-end.ts';
import { breakTypeOf } from '../routing/attempt-span.ts';
import type { LiveResponses } from './live-responses.ts';

type AnswerDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly live: LiveResponses;
};

/** Agent that a response belongs to, and the functions that keep it. */
export type Keeping = {
  readonly id: string;
  readonly agentId: number;
  /** Stores a response, whose JSON is `written`. Resolves to true when it was stored. */
  readonly keep: (response: Json, written: Buffer) => Promise<boolean>;
  /**
   * Remembers an ended response that is not stored, so that the next request on the connection can continue it. Undefined for
   * HTTP.
   */
  readonly remember?: ((response: Json) => Promise<void>) | undefined;
  /** True when the `usage` of the response gets the price. */
  readonly tellsCost: boolean;
};

/**
 * Settles a whole response, keeps it at the same time, and returns it with its receipt. A response with the price in it is kept
 * after the settlement.
 */
export async function answerResponse(
  { clock }: Pick<AnswerDeps, 'clock'>,
  bought: HeldPurchase<unknown>,
  { echo, response }: WholeResponse,
  keeping: Keeping,
): Promise<Relayed> {
  const { outcome, served, upstreamMs } = bought;
  const settling = bought.settle();
  const keep = async (price: Price | undefined) => {
    const { written } = await keepEnded(keeping, asEnded(clock, response, price), echo);
    return written;
  };
  // The ledger and the store commit at the same time, so that the client waits for only one commit. If the ledger fails, the
  // store may have kept the response, but the client gets an error without the response's id and cannot read it.
  const [settled, body] = await Promise.all([
    settling,
    keeping.tellsCost ? settling.then(keep) : keep(undefined),
  ]);
  const headers = receiptHeaders(served, settled, 'application/json');
  return { status: outcome.status, body, headers, upstreamMs };
}

/**
 * Relays the events of a response. At its end, whichever side ends it, the response is settled and kept; the price and the last
 * event follow, so a client that has the last event can continue the response. On a connection the price is a member of the
 * last event. A response that breaks ends as failed.
 */
export async function answerResponseEvents(
  { clock, live, log }: AnswerDeps,
  bought: HeldPurchase<unknown>,
  events: ResponseEvents,
  keeping: Keeping,
): Promise<StreamedAnswer> {
  const { served, source, upstreamMs } = bought;
  const { agentId, id } = keeping;
  let isCancelled = false;
  const headers = streamHeaders(served, await budgetOf(bought, events));
  live.add(id, {
    agentId,
    shown: () => ({ ...events.response(), usage: null, ...readEcho(events.echo) }),
    cancel() {
      isCancelled = true;
      events.stop();
    },
  });

  /**
   * Charges the response, then stores it. The client knows the id from the first event, so an uncharged response must not be
   * stored.
   */
  async function settleAndKeep(how: Json, cause?: unknown): Promise<Uint8Array> {
    const ended = { ...events.response(), ...how };
    // An upstream of this dialect may end its response as failed.
    const isFailed = ended.status === 'failed';
    const price = await bought.settle(
      isFailed ? breakTypeOf(cause ?? new ReportedError(ended.error)) : undefined,
    );
    const said = asEnded(clock, ended, keeping.tellsCost ? price : undefined);
    const wanted = live.isRemoved(id) && said.store === true ? { ...said, store: false } : said;
    const last = await keepEnded(keeping, wanted, events.echo);
    if (keeping.remember !== undefined) {
      // WebSocket messages cannot carry the comments with the price.
      const cost = { cost_usdc: price.chargedRaw.toString() };
      return lastEvent(last, events.sequence(), cost);
    }
    return joinPieces([priceComments(price), await lastEvent(last, events.sequence())]);
  }
  const end = (how: Json, cause?: unknown) => live.ending(id, () => settleAndKeep(how, cause));

  const body = relayStream(events, {
    piece: (bytes) => bytes,
    end: () => end(isCancelled ? CANCELLED : {}),
    broken(err) {
      if (isCancelled) return end(CANCELLED);
      log.warn({ err, provider: source.provider }, 'a streamed response broke off');
      return end(brokenBy(err), err);
    },
    left: () => live.ending(id, async () => void (await bought.settle())),
  });
  return { status: 200, headers, body, upstreamMs };
}

const CANCELLED: Json = { status: 'cancelled', incomplete_details: null };

const BROKE_OFF = 'The upstream broke off in the middle of its answer; what came of it is charged.';

/**
 * Returns the end of a response that broke off, with the upstream's own error code and sentence if it sent one. Clients decide
 * by the code what to do next.
 */
function brokenBy(cause: unknown): Json {
  const { code = 'server_error', told = '' } = cause instanceof ReportedError ? cause : {};
  const message = told === '' ? BROKE_OFF : `${BROKE_OFF} It said: ${told}`;
  return { status: 'failed', error: { code, message } };
}

/** Adds the time of its end, and the price if there is one, to a response. Changes `ended` itself. */
function asEnded(clock: Clock, ended: Record<string, unknown>, price: Price | undefined): Json {
  const isCompleted = ended.status === 'completed' && ended.completed_at === undefined;
  if (isCompleted) ended.completed_at = nowSeconds(clock);
  return price === undefined ? ended : withPrice(ended, price);
}

/** Stores a response. Returns its status and its final JSON, whose `store` is false when it was not stored. */
async function keepEnded(
  { keep, remember }: Keeping,
  response: Json,
  echo = '',
): Promise<{ readonly status: unknown; readonly written: Buffer }> {
  const { status, store } = response;
  const whole = writeWhole(response, echo);
  const written = whole instanceof Promise ? await whole : whole;
  if (store === true && (await keep(response, written))) return { status, written };
  if (remember !== undefined) await remember(response);
  return store === true
    ? { status, written: await writeWhole({ ...response, store: false }, echo) }
    : { status, written };
}

const readEcho = (echo = ''): Json => JSON.parse(`{${echo}}`) as Json;

const withPrice = (response: Json, price: Price): Json => {
  const { usage } = response;
  return { ...response, usage: { ...(isObject(usage) ? usage : {}), ...priceMembers(price) } };
};
