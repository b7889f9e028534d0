import { isUnknown, type TwilioApi } from './api.ts';
import type { TwilioHooks } from './hooks.ts';

/** Upper bound of the triggers of an account that are read. More than one of our hook are left from other thresholds. */
const MOST_TRIGGERS = 100;

/** Kind of the trigger of this server: the total price of a month. */
export const TRIGGER_KIND = {
  usageCategory: 'totalprice',
  triggerBy: 'price',
  recurring: 'monthly',
} as const;

type Deps = { readonly api: TwilioApi; readonly hooks: TwilioHooks };

/**
 * Sets Twilio's callback for a month's spend above the threshold, or none when `thresholdUsd` is undefined. A trigger with this
 * threshold stays and the others are deleted, so that each start of the server may call this.
 */
export async function setUsageTrigger(deps: Deps, thresholdUsd: number | undefined): Promise<void> {
  const { api, hooks } = deps;
  const ours = await findOurs(deps).catch((error: unknown) => {
    // A server that speaks Twilio's API without triggers has none to remove.
    if (thresholdUsd === undefined && isUnknown(error)) return [];
    throw error;
  });
  const kept = ours.find(({ triggerValue }) => Number(triggerValue) === thresholdUsd);
  if (thresholdUsd !== undefined && kept === undefined) {
    await api.ask((client) =>
      client.usage.triggers.create({
        ...TRIGGER_KIND,
        callbackUrl: hooks.usage,
        callbackMethod: 'POST',
        triggerValue: String(thresholdUsd),
        friendlyName: 'phone service',
      }),
    );
  }
  for (const { sid } of ours.filter((trigger) => trigger !== kept)) await remove(deps, sid);
}

async function findOurs({ api, hooks }: Deps) {
  const page = await api.ask((client) =>
    client.usage.triggers.page({ ...TRIGGER_KIND, pageSize: MOST_TRIGGERS }),
  );
  return page.instances.filter(({ callbackUrl }) => callbackUrl === hooks.usage);
}

/** Deletes a usage trigger. Does nothing when another process has deleted it. */
async function remove({ api }: Deps, sid: string): Promise<void> {
  try {
    await api.ask((client) => client.usage.triggers(sid).remove());
  } catch (error) {
    if (!isUnknown(error)) throw error;
  }
}
