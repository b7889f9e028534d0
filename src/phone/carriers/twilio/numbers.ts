import { CarrierFailed, type CarrierNumber, type CarrierNumbers } from '../carrier.ts';
import { isUnknown, type TwilioApi } from './api.ts';
import type { TwilioHooks } from './hooks.ts';

/**
 * Creates the part of the carrier that rents numbers from Twilio. A number's friendly name is the purchase id, by which a
 * purchase is found again after a lost response.
 */
export function createTwilioNumbers(deps: {
  readonly api: TwilioApi;
  readonly hooks: TwilioHooks;
}): CarrierNumbers {
  const { api, hooks } = deps;
  return {
    async search({ areaCode, country = 'US', phoneNumber, limit }) {
      const found = await api.ask((client) =>
        client.availablePhoneNumbers(country).local.page({
          ...(areaCode !== undefined && { areaCode: Number(areaCode) }),
          ...(phoneNumber !== undefined && { contains: phoneNumber.replace(/^\+1/, '') }),
          voiceEnabled: true,
          excludeAllAddressRequired: true,
          pageSize: limit,
        }),
      );
      return found.instances
        .filter((number) => phoneNumber === undefined || number.phoneNumber === phoneNumber)
        .slice(0, limit)
        .map((number) => ({
          phoneNumber: number.phoneNumber,
          friendlyName: number.friendlyName,
          locality: number.locality ?? null,
          region: number.region ?? null,
        }));
    },

    async buy({ phoneNumber, purchaseId }) {
      const bought = await api.ask((client) =>
        client.incomingPhoneNumbers.create({
          phoneNumber,
          friendlyName: purchaseId,
          voiceUrl: hooks.voice(),
          voiceMethod: 'POST',
          statusCallback: hooks.status(),
          statusCallbackMethod: 'POST',
        }),
      );
      return numberOf(bought);
    },

    async findPurchase(purchaseId) {
      const found = await api.ask((client) =>
        client.incomingPhoneNumbers.page({ friendlyName: purchaseId, pageSize: 20 }),
      );
      // Compares the name again, because the carrier's filter may also match similar names.
      const ours = found.instances.find(({ friendlyName }) => friendlyName === purchaseId);
      return ours && numberOf(ours);
    },

    async release(carrierNumberId) {
      try {
        await api.ask((client) => client.incomingPhoneNumbers(carrierNumberId).remove());
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    },
  };
}

function numberOf({ sid, phoneNumber }: { sid: string; phoneNumber: string }): CarrierNumber {
  if (typeof sid === 'string' && typeof phoneNumber === 'string') {
    return { carrierNumberId: sid, phoneNumber };
  }
  throw new CarrierFailed('away', 'twilio answered no number');
}
