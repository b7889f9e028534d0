import { z } from 'zod';
import { type Clock, within } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { GuardedAnswer } from '../../../platform/egress/exchange.ts';
import type { GuardedClient } from '../../../platform/egress/guarded-client.ts';
import { signedHeaders } from '../../../webhooks/delivery/sign-delivery.ts';
import { E164 } from '../../e164.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import {
  CALL_OVERRIDES_SHAPE,
  type CallOverrides,
  readCallOverrides,
} from '../../voice/call-overrides.ts';

const { answerBytes, answerMs } = PHONE_LIMITS.inbound;

const Answer = z.discriminatedUnion('action', [
  z.object({
    action: z.literal('accept'),
    recording: z.boolean().optional(),
    report: z.boolean().optional(),
    ...CALL_OVERRIDES_SHAPE,
  }),
  z.object({ action: z.literal('reject') }),
  z.object({ action: z.literal('forward'), to: z.string().regex(E164) }),
]);

/** A developer's answer about a call that rings. */
export type InboundAnswer =
  | {
      readonly action: 'accept';
      readonly overrides: CallOverrides;
      readonly recording: boolean | undefined;
      readonly report: boolean | undefined;
    }
  | { readonly action: 'reject' }
  | { readonly action: 'forward'; readonly to: string };

export type AskInboundDeps = {
  /** HTTP client whose guard checks the URL before every request. */
  readonly client: GuardedClient;
  readonly clock: Clock;
  readonly log: Log;
};

/** Facts of an incoming call in the request to the agent's developer. */
export type InboundRequest = {
  readonly callId: string;
  readonly agentId: number;
  readonly from: string;
  readonly to: string;
};

/**
 * Requests instructions for an incoming call from the agent's developer, once and within 3 s. Undefined when no valid answer
 * came; the stored settings hold then. Never throws.
 */
export function askInbound(
  deps: AskInboundDeps,
  asked: { readonly url: string; readonly secret: string },
  question: InboundRequest,
): Promise<InboundAnswer | undefined> {
  const late = () => {
    throw new Error(`no answer within ${answerMs} ms`);
  };
  return within(deps.clock, answerMs, answerOf(deps, asked, question), late).catch(
    (err: unknown) => {
      const { callId } = question;
      deps.log.warn({ err, callId }, 'an inbound URL gave no answer, and the stored settings hold');
      return undefined;
    },
  );
}

async function answerOf(
  deps: AskInboundDeps,
  { secret, url }: { readonly url: string; readonly secret: string },
  question: InboundRequest,
): Promise<InboundAnswer> {
  const answer = await send(deps, url, { secret, question });
  try {
    if (answer.status !== 200) throw new Error(`the status is ${answer.status}`);
    return readAnswer(await textOf(answer));
  } finally {
    answer.discard();
  }
}

async function send(
  { client, clock }: AskInboundDeps,
  url: string,
  { question, secret }: { readonly secret: string; readonly question: InboundRequest },
): Promise<GuardedAnswer> {
  const untilMs = clock.monotonicMs() + answerMs;
  const destination = await client.open(url);
  const leftMs = Math.max(1, untilMs - clock.monotonicMs());
  const body = JSON.stringify({ type: 'call.inbound', ...question });
  const signed = { body, deliveryId: `msg_${question.callId}`, nowMs: clock.now() };
  return client.send(destination, {
    method: 'POST',
    headers: [
      ...signedHeaders({ current: secret }, signed),
      ['Accept', 'application/json'],
      ['Accept-Encoding', 'identity'],
    ],
    body,
    signal: new AbortController().signal,
    timeouts: { connectMs: leftMs, firstByteMs: leftMs, idleMs: leftMs, totalMs: leftMs },
    maxHeaderBytes: PHONE_LIMITS.webhook.headerBytes,
    maxResponseBytes: answerBytes,
  });
}

async function textOf({ body }: GuardedAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function readAnswer(text: string): InboundAnswer {
  const answer = Answer.parse(JSON.parse(text));
  if (answer.action !== 'accept') return answer;
  const { action, recording, report, ...own } = answer;
  return { action, overrides: readCallOverrides(own), recording, report };
}
