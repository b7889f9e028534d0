import { expect, it } from 'vitest';
import { requirePricedResponse } from '../../../../src/models/responses/priced-here.ts';
import { ResponsesRequest } from '../../../../src/models/responses/responses-request.ts';

const own = { type: 'function', name: 'f' };
const SEARCH = { type: 'web_search' };

it.each([
  ['tools[1]', { tools: [own, SEARCH] }, []],
  ['input[0].tools[1]', {}, [{ type: 'additional_tools', tools: [own, SEARCH] }]],
])(
  'a Responses request with a provider’s web search is refused with the way to fix it: %s',
  (place, members, items) => {
    const request = ResponsesRequest.parse({ model: 'm', input: 'x', ...members });
    expect(() => requirePricedResponse(request, items)).toThrow(
      expect.objectContaining({
        status: 400,
        fields: expect.objectContaining({
          message: `The built-in tool "web_search" (${place}) runs at the provider, which bills each call: that has no price here. Leave it out, or store your own key at a provider that serves it with PUT /v1/developer/provider-keys/{provider}. Codex leaves it out with \`web_search = "disabled"\` in its config.toml.`,
          param: place,
        }),
      }),
    );
  },
);
