import { jsonRequest } from '../../models/providers/vendors/write-request.ts';
import { LIST } from '../prices/price-list.ts';
import { soundOf } from '../read-delivery.ts';
import { signAws } from '../sign-aws.ts';
import { reportedCharacters } from '../tripwires/deviation.ts';
import { modelOf, nameOf, type Vendor } from '../vendor.ts';

const { generative, neural, standard } = LIST.polly;

const ENGINES = { neural, standard, generative };

/** Amazon Polly: https://docs.aws.amazon.com/polly/latest/dg/API_SynthesizeSpeech.html. */
export const polly: Vendor = {
  name: 'polly',
  title: 'Amazon Polly',
  account: {
    variables: ['POLLY_ACCESS_KEY_ID', 'POLLY_SECRET_ACCESS_KEY'],
    baseUrl: 'https://polly.us-east-1.amazonaws.com',
    opens({ body, method, url }, [keyId = '', secret = ''], clock) {
      // A host that is not the vendor's own, such as a stand-in for tests, signs for the default region.
      const region = /^polly\.([a-z0-9-]+)\.amazonaws\.com$/.exec(url.hostname)?.[1] ?? 'us-east-1';
      return signAws(
        { method, url, body, contentType: 'application/json' },
        { keyId, secret, region, service: 'polly' },
        clock.now(),
      );
    },
  },
  services: {
    tts: {
      mostChars: 3_000,
      plan({ engine: asked, target_language_code: language, text, voice }) {
        const { model: engine, price } = modelOf(asked, ENGINES, { member: 'engine' });
        const body = {
          Engine: engine,
          OutputFormat: 'mp3',
          Text: text,
          TextType: 'text',
          VoiceId: nameOf(voice, 'Joanna', 'voice'),
          ...(language && { LanguageCode: language }),
        };
        return {
          price,
          ask: async (door) =>
            soundOf(await door.send(jsonRequest('/v1/speech', body)), (headers) =>
              reportedCharacters(headers['x-amzn-requestcharacters']),
            ),
        };
      },
    },
  },
};
