import { expect, it } from 'vitest';
import { createBytesInFlight } from '../../../src/marketplace/bytes-in-flight.ts';

const busy = expect.objectContaining({ status: 503, error: 'vendor_unavailable' });

it('the bytes in flight stay within the global limit and the limit of each account', () => {
  const shareOf = createBytesInFlight({ inAll: 100, perAccount: 60 });
  const [a, more, b] = [shareOf('a'), shareOf('a'), shareOf('b')];
  a.use(50);
  expect(() => more.use(11)).toThrow(busy);
  more.use(10);
  expect(() => b.use(41)).toThrow(busy);
  b.use(40);
  expect(() => shareOf('c').reserve(1)).toThrow(busy);
  a.shrinkTo(0);
  shareOf('c').use(50);
});

it('used bytes count against the reservation first, and a refused use takes no bytes', () => {
  const shareOf = createBytesInFlight({ inAll: 100, perAccount: 100 });
  const share = shareOf('a');
  share.reserve(30);
  share.use(20);
  share.use(10);
  shareOf('b').use(70);
  expect(() => share.use(1)).toThrow(busy);
  share.shrinkTo(5);
  shareOf('b').use(25);
  expect(() => shareOf('b').use(1)).toThrow(busy);
  share.shrinkTo(0);
  share.shrinkTo(0);
  shareOf('b').use(5);
  expect(() => shareOf('b').use(1)).toThrow(busy);
});
