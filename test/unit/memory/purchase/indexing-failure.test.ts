import { expect, it } from 'vitest';
import { credentialErrors } from '../../../../src/accounts/errors.ts';
import { EngineBusy, EngineMissing } from '../../../../src/engines/engine.ts';
import { ClaimLost, PurchaseOpen } from '../../../../src/memory/purchase/buy-once.ts';
import { indexingFailureOf } from '../../../../src/memory/purchase/indexing-failure.ts';
import { ModelRefused } from '../../../../src/memory/purchase/models.ts';
import { gatewayErrors } from '../../../../src/models/errors.ts';

const refused = (reason: string, needsRaw: bigint | null = null) => ({
  kind: 'refused',
  reason,
  needsRaw,
});

it.each([
  ['an engine that is busy', new EngineBusy(1), { kind: 'busy' }],
  ['an engine that is missing', new EngineMissing('none'), { kind: 'busy' }],
  ['a purchase that is open', new PurchaseOpen('open'), { kind: 'busy' }],
  ['a claim that has passed on', new ClaimLost('lost'), { kind: 'busy' }],
  ['a bug', new Error('bug'), { kind: 'fault' }],
  ['a provider that refuses the text', new ModelRefused(400), { kind: 'fault' }],
  ['a provider that refuses this server', new ModelRefused(403), refused('model_refused')],
  [
    'an empty balance',
    gatewayErrors.budgetExhausted({ scope: 'wallet', required: '700' }),
    refused('insufficient_balance', 700n),
  ],
  [
    'a cap, which no balance lifts',
    gatewayErrors.capExceeded('used up', { scope: 'task', required: '700' }),
    refused('budget_exhausted'),
  ],
  [
    'sources that failed',
    gatewayErrors.allSourcesFailed(2),
    refused(gatewayErrors.allSourcesFailed(2).error),
  ],
  [
    'a key that was revoked',
    credentialErrors.invalidKey(),
    { kind: 'hopeless', reason: 'key_revoked' },
  ],
])(
  'indexing maps the cause of a failure to what happens with the item: %s',
  (_, error, setback) => {
    expect(indexingFailureOf(error)).toEqual(setback);
  },
);
