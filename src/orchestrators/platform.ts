import { BRAND } from '../kernel/ids.ts';

/** Voice platforms that can be connected. The first three host calls, the last two run at the developer's own place. */
export const PROVIDERS = ['vapi', 'retell', 'bland', 'pipecat', 'livekit'] as const;

export type Provider = (typeof PROVIDERS)[number];

export type Platform = {
  /** Host under which policies count the calls of the platform. */
  readonly host: string;
  /** True when the platform signs with a secret that it has made itself. */
  readonly bringsSecret: boolean;
  /** Header with the secret or the signature. */
  readonly header: string;
};

const SELF_HOSTED = { bringsSecret: false, header: `${BRAND.headerPrefix}signature` } as const;

export const PLATFORMS: Readonly<Record<Provider, Platform>> = {
  vapi: { host: 'api.vapi.ai', bringsSecret: false, header: 'x-vapi-secret' },
  retell: { host: 'api.retellai.com', bringsSecret: true, header: 'x-retell-signature' },
  bland: { host: 'api.bland.ai', bringsSecret: true, header: 'x-webhook-signature' },
  pipecat: { host: 'pipecat', ...SELF_HOSTED },
  livekit: { host: 'livekit', ...SELF_HOSTED },
};

export const isProvider = (name: unknown): name is Provider =>
  PROVIDERS.some((known) => known === name);
