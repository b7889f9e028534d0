import { expect, it } from 'vitest';
import { z } from 'zod';
import { CALL_ORDER_SHAPE } from '../../../../src/routes/calls/order-shape.ts';

const messageOf = (body: object) =>
  z.object(CALL_ORDER_SHAPE).safeParse(body).error?.issues[0]?.message;

it.each([
  [{ variables: { 'a b': 'x' } }, 'the name must have letters, digits and _ alone, up to 64'],
  [{ metadata: { a: { b: 1 } } }, 'must be a text, a number, true or false'],
  [{ analysis: 'both' }, 'must be "rules", "model" or {"schema": {…}}'],
])('an order of a call with %j is refused with what the member must be', (body, message) => {
  expect(messageOf(body)).toBe(message);
});
