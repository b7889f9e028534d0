import type { TwilioApi } from './api.ts';
import type { Hooks } from './hooks.ts';

/** Of one account, all of our hook: more than one is left over from another threshold. */
const MOST_TRIGGERS = 100;

/** Of a month's whole price. */
const KIND = {
  usageCategory: 'totalprice',
  triggerBy: 'price',
  recurring: 'monthly',
} as const;

/**
 * Has Twilio call back once a month's spend crosses the threshold. A trigger that is there already stays, and those of
 * other thresholds go, so that each start of the server may ask.
 */
export async function ensureUsageTrigger(
  deps: { readonly api: TwilioApi; readonly hooks: Hooks },
  thresholdUsd: number,
): Promise<void> {
  const { api, hooks } = deps;
  const page = await api.ask((client) =>
    client.usage.triggers.page({ ...KIND, pageSize: MOST_TRIGGERS }),
  );
  const ours = page.instances.filter(({ callbackUrl }) => callbackUrl === hooks.usage);
  const isRight = (trigger: { triggerValue: string }) =>
    Number(trigger.triggerValue) === thresholdUsd;
  const kept = ours.find(isRight);
  if (kept === undefined) {
    await api.ask((client) =>
      client.usage.triggers.create({
        ...KIND,
        callbackUrl: hooks.usage,
        callbackMethod: 'POST',
        triggerValue: String(thresholdUsd),
        friendlyName: 'phone service',
      }),
    );
  }
  for (const { sid } of ours.filter((trigger) => trigger !== kept)) {
    await api.ask((client) => client.usage.triggers(sid).remove());
  }
}
