import { expect, it } from 'vitest';
import { signAws } from '../../../src/marketplace/sign-aws.ts';

it('the AWS signer produces the signature of the example in the AWS documentation', () => {
  const signed = signAws(
    {
      method: 'GET',
      url: new URL('https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08'),
      contentType: 'application/x-www-form-urlencoded; charset=utf-8',
      body: undefined,
    },
    {
      keyId: 'AKIDEXAMPLE',
      region: 'us-east-1',
      service: 'iam',
      secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    },
    Date.UTC(2015, 7, 30, 12, 36),
  );
  expect(signed).toEqual({
    'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
    'x-amz-date': '20150830T123600Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, ' +
      'SignedHeaders=content-type;host;x-amz-date, ' +
      'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  });
});
