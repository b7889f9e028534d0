import { expect, it } from 'vitest';
import { phoneCall } from '../../../support/phone-line.ts';

it('a line counts as silent since its last sound, and never during a transfer or without its stream', async () => {
  const { call, connection, line, passes } = await phoneCall();
  await passes(500);
  expect(call.silentMs).toBeLessThanOrEqual(20);
  line.close();
  await passes(3_000);
  expect(call.silentMs).toBeGreaterThanOrEqual(2_980);
  call.actions.transferring();
  expect(call.silentMs).toBe(0);
  call.actions.transferFailed('[transfer] The other person was not reached: busy.');
  expect(call.silentMs).toBeGreaterThanOrEqual(2_980);
  call.detached();
  expect(call.silentMs).toBe(0);
  call.attach(connection);
  await passes(200);
  expect(call.silentMs).toBeLessThanOrEqual(220);
  expect(call.silentMs).toBeGreaterThanOrEqual(180);
});
