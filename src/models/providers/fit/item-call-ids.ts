import { isObject, type Json } from '../../../kernel/json.ts';
import { CallIds, hasOddId, RESPONSE_CALL_IDS } from './call-ids.ts';

/** Returns the request with ids that OpenAI accepts, on calls and on their outputs. Returns the same object if all ids fit. */
export function withFittingCallIds(request: Json): Json {
  const { input } = request;
  if (!Array.isArray(input) || !input.some(isNamed)) return request;
  if (!hasOddId(RESPONSE_CALL_IDS, idsOf(input))) return request;
  const ids = new CallIds(RESPONSE_CALL_IDS);
  const items = (input as unknown[]).map((item) => {
    if (!isNamed(item)) return item;
    const { call_id: given } = item;
    return Object.assign({ type: item.type }, item, {
      call_id: isOutput(item) ? ids.result(given) : ids.call(given),
    });
  });
  return Object.assign({ model: request.model }, request, { input: items });
}

type Named = Json & { readonly call_id: string };

const isNamed = (item: unknown): item is Named =>
  isObject(item) && typeof item.call_id === 'string';

const isOutput = ({ type }: Named): boolean => typeof type === 'string' && type.endsWith('_output');

function* idsOf(items: readonly unknown[]): Generator<string> {
  for (const item of items) if (isNamed(item) && !isOutput(item)) yield item.call_id;
}
