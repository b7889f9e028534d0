import { admin } from './refusals/admin.ts';
import { agents } from './refusals/agents.ts';
import { attribution } from './refusals/attribution.ts';
import { controls } from './refusals/controls.ts';
import { credential } from './refusals/credential.ts';
import { gateway } from './refusals/gateway.ts';
import { keys } from './refusals/keys.ts';
import { providerKeys } from './refusals/provider-keys.ts';
import { proxy } from './refusals/proxy.ts';
import { request } from './refusals/request.ts';

/**
 * Every refusal that a caller can meet, with its wire spelling, by the specification's error tables.
 * Spellings stand nowhere else: the specification mixes snake_case and sentences, and clients compare
 * them letter by letter.
 */
export const refuse = {
  proxy,
  request,
  credential,
  agents,
  keys,
  providerKeys,
  controls,
  attribution,
  admin,
  gateway,
} as const;
