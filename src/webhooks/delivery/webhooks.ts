import { z } from 'zod';
import type { Random } from '../../kernel/random.ts';
import { seal } from '../../kernel/seal.ts';
import {
  BlockedDestination,
  PlainHttp,
  Unreachable,
} from '../../platform/egress/blocked-destination.ts';
import type { DestinationGuard } from '../../platform/egress/destination-guard.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { EVENT_KINDS, isKnownPattern } from '../catalogue.ts';
import { webhookErrors } from '../errors.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';
import { countDeliveries } from './log-store.ts';
import { requireWebhook } from './require-webhook.ts';
import { newWebhookSecret } from './sign-delivery.ts';
import { secretPlace, WEBHOOK_SCOPES, type Webhook, type WebhookScope } from './webhook.ts';
import {
  deleteWebhook,
  findWebhooks,
  insertWebhook,
  lockWebhooks,
  replaceSecret,
  updateWebhook,
} from './webhook-store.ts';

export type WebhooksDeps = {
  readonly sql: Sql;
  readonly random: Random;
  readonly guard: DestinationGuard;
  /** Secret that seals the signing secrets. Undefined: this server keeps no webhooks. */
  readonly sealingSecret: string | undefined;
};

export type WantedWebhook = {
  readonly url: string;
  readonly events?: unknown;
  readonly scope?: unknown;
  readonly scopeValue?: unknown;
  readonly description?: string | null | undefined;
  readonly maxPerSecond?: number | null | undefined;
};

export type WebhookPatch = {
  readonly url?: string | undefined;
  readonly events?: unknown;
  readonly active?: boolean | undefined;
  readonly description?: string | null | undefined;
  readonly maxPerSecond?: number | null | undefined;
};

type Place = Pick<Webhook, 'accountId' | 'id'>;

export type Webhooks = ReturnType<typeof createWebhooks>;

const Patterns = z.array(z.string().max(128)).min(1).max(WEBHOOK_LIMITS.endpoint.patterns);

/** Creates the management of an account's webhooks and their secrets. */
export function createWebhooks(deps: WebhooksDeps) {
  const { sql } = deps;

  return {
    /** Creates a webhook. Throws the refusal of an invalid subscription. Only this result has the secret in plain text. */
    async create(
      accountId: string,
      wanted: WantedWebhook,
    ): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
      const events = requirePatterns(wanted.events);
      const { scope, scopeValue } = requireScope(wanted);
      const url = await requireUrl(deps, wanted.url);
      const { sealed, secret } = sealNewSecret(deps, accountId);
      const { description = null, maxPerSecond = null } = wanted;
      const fresh = { accountId, url, events, scope, scopeValue, description, maxPerSecond };
      const webhook = await sql.begin(async (tx) => {
        await lockWebhooks(tx, accountId);
        return insertWebhook(tx, { ...fresh, sealedSecret: sealed });
      });
      if (webhook === undefined) throw webhookErrors.limitExceeded();
      return { webhook, secret };
    },

    list: (accountId: string) => findWebhooks(sql, accountId),

    /** Returns a webhook, and the number of its deliveries by status. */
    async read(place: Place) {
      const webhook = await requireWebhook(sql, place);
      return { webhook, stats: await countDeliveries(sql, webhook.id) };
    },

    async change(place: Place, patch: WebhookPatch): Promise<Webhook> {
      await requireWebhook(sql, place);
      const { active, description, maxPerSecond } = patch;
      const changed = await updateWebhook(sql, place, {
        ...(patch.url !== undefined && { url: await requireUrl(deps, patch.url) }),
        ...(patch.events !== undefined && { events: requirePatterns(patch.events) }),
        ...(active !== undefined && { active }),
        ...(description !== undefined && { description }),
        ...(maxPerSecond !== undefined && { maxPerSecond }),
      });
      if (changed === undefined) throw webhookErrors.notFound();
      return changed;
    },

    /** Deletes a webhook. Its queued deliveries are not sent any more, and its log stays. */
    async remove(place: Place): Promise<void> {
      if (!(await deleteWebhook(sql, place))) throw webhookErrors.notFound();
    },

    /**
     * Replaces the signing secret and returns the new one. The old secret also signs the Standard Webhooks header for a day,
     * unless `isImmediate`.
     */
    async rotateSecret(place: Place, isImmediate: boolean): Promise<string> {
      await requireWebhook(sql, place);
      const { sealed, secret } = sealNewSecret(deps, place.accountId);
      const previousMs = isImmediate ? 0 : WEBHOOK_LIMITS.endpoint.previousSecretMs;
      const stood = await replaceSecret(sql, place, { sealedSecret: sealed, previousMs });
      if (!stood) throw webhookErrors.notFound();
      return secret;
    },

    kinds: EVENT_KINDS,
  };
}

/** Returns the patterns in their order, without duplicates. Throws the refusal of a pattern that matches no event. */
function requirePatterns(value: unknown): readonly string[] {
  const parsed = Patterns.safeParse(value);
  if (!parsed.success) throw webhookErrors.noEvents();
  const dead = parsed.data.find((pattern) => !isKnownPattern(pattern));
  if (dead !== undefined) throw webhookErrors.noEvents(`No event is called "${dead}".`);
  return [...new Set(parsed.data)];
}

function requireScope({ scope = 'global', scopeValue }: WantedWebhook): {
  readonly scope: WebhookScope;
  readonly scopeValue: string | null;
} {
  if (!isScope(scope)) {
    throw webhookErrors.invalidScope(`scope: use one of ${WEBHOOK_SCOPES.join(', ')}.`);
  }
  const isGiven = scopeValue !== undefined && scopeValue !== null && scopeValue !== '';
  if (scope === 'global') {
    if (isGiven) throw webhookErrors.invalidScope('scopeValue: the scope "global" has none.');
    return { scope, scopeValue: null };
  }
  if (!isGiven) throw webhookErrors.scopeValueRequired(scope);
  const isText = typeof scopeValue === 'string' || typeof scopeValue === 'number';
  const text = isText ? String(scopeValue).toLowerCase() : '';
  const fits = scope === 'loan' ? /^\d{1,20}$/.test(text) : /^0x[0-9a-f]{40}$/.test(text);
  if (!fits) {
    throw webhookErrors.invalidScope(
      scope === 'loan'
        ? 'scopeValue: name a loan by its number.'
        : 'scopeValue: name a wallet by its 0x address.',
    );
  }
  return { scope, scopeValue: text };
}

const isScope = (scope: unknown): scope is WebhookScope =>
  WEBHOOK_SCOPES.some((known) => known === scope);

/**
 * Returns the URL in its normal form. Throws the refusal of a URL without https, or with a host that is blocked or does not
 * resolve.
 */
async function requireUrl({ guard }: WebhooksDeps, url: string): Promise<string> {
  if (!/^https?:/i.test(url)) throw webhookErrors.urlNotHttps();
  try {
    return (await guard.admit(url)).url;
  } catch (error) {
    if (error instanceof PlainHttp) throw webhookErrors.urlNotHttps();
    if (error instanceof BlockedDestination) {
      throw webhookErrors.blockedDestination(error.reason);
    }
    if (!(error instanceof Unreachable)) throw error;
    throw webhookErrors.blockedDestination('the host name does not resolve');
  }
}

/** Creates a secret, and returns it with its sealed form for the database. Throws when webhooks are unavailable. */
function sealNewSecret({ random, sealingSecret }: WebhooksDeps, accountId: string) {
  if (sealingSecret === undefined) throw webhookErrors.unavailable();
  const secret = newWebhookSecret(random);
  const sealed = seal(sealingSecret, secretPlace(accountId), Buffer.from(secret), random);
  return { secret, sealed };
}
