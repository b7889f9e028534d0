import { type Random, randomHex } from '../../kernel/random.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { envelopeOf, TEST_PAYLOAD } from '../envelope.ts';
import { webhookErrors } from '../errors.ts';
import type { LogFilter, TriedDelivery } from './delivery.ts';
import { readFeed, readLastPosition } from './dispatch-store.ts';
import { findDeliveries, findDelivery, insertTried } from './log-store.ts';
import type { OpenSecrets } from './open-secrets.ts';
import { findRecovery, insertRecovery } from './recovery-store.ts';
import { requireWebhook } from './require-webhook.ts';
import type { Attempt, SendDelivery } from './send-delivery.ts';
import { sendSigned } from './send-signed.ts';
import type { Webhook } from './webhook.ts';
import { findSecrets } from './webhook-store.ts';

export type DeliveriesDeps = {
  readonly sql: Sql;
  readonly random: Random;
  readonly send: SendDelivery;
  readonly now: () => number;
  /** Opens sealed signing secrets. Undefined when webhooks are off on this server. */
  readonly openSecrets: OpenSecrets | undefined;
};

/** Result of a delivery that a developer asked for by hand. */
export type ManualDelivery = Attempt & { readonly deliveryId: string };

type Place = Pick<Webhook, 'accountId' | 'id'>;

export type WebhookTries = ReturnType<typeof createWebhookTries>;
export type WebhookRecoveries = ReturnType<typeof createWebhookRecoveries>;
export type WebhookLog = ReturnType<typeof createWebhookLog>;

/** Creates the deliveries that a developer requests by hand: each is attempted once, while the developer waits. */
export function createWebhookTries(deps: DeliveriesDeps) {
  const { now, sql } = deps;
  return {
    /** Sends one delivery of the event `test`, which is never retried. */
    async test(place: Place): Promise<ManualDelivery> {
      const webhook = await requireWebhook(sql, place);
      const createdAt = new Date(now());
      const payload = { ...TEST_PAYLOAD, webhookId: webhook.id };
      const body = JSON.stringify(envelopeOf({ name: 'test', payload, position: null, createdAt }));
      const none = { agentWallet: null, correlationId: null, eventId: null };
      return tryOnce(deps, webhook, { ...none, event: 'test', payload }, body);
    },

    /** Sends a finished delivery once more, under a new delivery id. */
    async retry(place: Place, deliveryId: string): Promise<ManualDelivery> {
      const webhook = await requireWebhook(sql, place);
      const before = await findDelivery(sql, place.accountId, deliveryId);
      if (before === undefined || before.webhookId !== webhook.id) {
        throw webhookErrors.nothingToRetry();
      }
      if (before.event === 'test') {
        throw webhookErrors.notRetryable('A test is not sent again: make another test.');
      }
      if (before.dueAt !== null) {
        throw webhookErrors.notRetryable('This delivery is still being sent.');
      }
      const { agentWallet, correlationId, event, eventId, firedAt, payload, position } = before;
      const body = JSON.stringify(
        envelopeOf({ name: event, payload, position, createdAt: firedAt }),
      );
      return tryOnce(
        deps,
        webhook,
        { agentWallet, correlationId, event, eventId, payload: null },
        body,
      );
    },
  };
}

/** Creates the recoveries, which send failed deliveries again in the background. */
export function createWebhookRecoveries({ sql }: Pick<DeliveriesDeps, 'sql'>) {
  return {
    /** Starts a recovery of the deliveries that failed between `since` and `until`. They are sent again in the background. */
    async recover(place: Place, span: { readonly since: Date; readonly until: Date }) {
      const webhook = await requireWebhook(sql, place);
      if (!webhook.active) throw webhookErrors.inactive();
      const recovery = await insertRecovery(sql, {
        ...span,
        accountId: place.accountId,
        webhookId: webhook.id,
      });
      if (recovery === undefined) throw webhookErrors.recoveryRunning();
      return recovery;
    },

    async recovery(place: Place, recoveryId: number) {
      await requireWebhook(sql, place);
      const { accountId, id: webhookId } = place;
      const found = await findRecovery(sql, { accountId, webhookId, id: recoveryId });
      if (found === undefined) throw webhookErrors.recoveryNotFound();
      return found;
    },
  };
}

/** Creates the readers of an account's deliveries and events. */
export function createWebhookLog({ sql }: Pick<DeliveriesDeps, 'sql'>) {
  return {
    /** Lists the deliveries of one webhook, newest first. */
    async list(place: Place, page: { readonly limit: number; readonly offset: number }) {
      const { id } = await requireWebhook(sql, place);
      return findDeliveries(sql, place.accountId, { ...page, endpoint: id });
    },

    /** Lists the deliveries of an account, newest first. */
    log: (accountId: string, filter: LogFilter & { readonly limit: number }) =>
      findDeliveries(sql, accountId, filter),

    async detail(accountId: string, deliveryId: string) {
      const found = await findDelivery(sql, accountId, deliveryId);
      if (found === undefined) throw webhookErrors.deliveryNotFound();
      return found;
    },

    /**
     * Reads the account's events after a position, oldest first, with the content that webhooks of the scope `global` receive.
     */
    feed: (accountId: string, page: { readonly after: bigint; readonly limit: number }) =>
      readFeed(sql, accountId, page),

    /** Reads the position at which the feed ends now. */
    lastPosition: () => readLastPosition(sql),
  };
}

/** Sends a delivery once and stores the outcome. Throws when webhooks are unavailable or the webhook does not exist. */
async function tryOnce(
  { now, openSecrets, random, send, sql }: DeliveriesDeps,
  webhook: Webhook,
  delivery: Omit<
    TriedDelivery,
    'deliveryId' | 'webhookId' | 'accountId' | 'status' | keyof Attempt
  >,
  body: string,
): Promise<ManualDelivery> {
  if (openSecrets === undefined) throw webhookErrors.unavailable();
  const secrets = await findSecrets(sql, webhook);
  if (secrets === undefined) throw webhookErrors.notFound();
  const deliveryId = randomHex(random, 16);
  const signing = { now, openSecrets, send };
  const attempt = await sendSigned(signing, { ...webhook, ...secrets }, { body, deliveryId });
  await insertTried(sql, {
    ...delivery,
    ...attempt,
    deliveryId,
    webhookId: webhook.id,
    accountId: webhook.accountId,
    status: attempt.error === null ? 'success' : 'failed',
  });
  return { ...attempt, deliveryId };
}
