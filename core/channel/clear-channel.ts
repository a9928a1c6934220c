import { SaltError } from '../base/errors.ts'
import { decode } from '../codec/index.ts'
import type { RequestClient } from '../transport/contract.ts'
import { GENERATION_3, packClear } from '../wire/envelope.ts'
import type { Via } from '../wire/via.ts'

/** Send one clear command of a local client (wire protocol §8) and return the plain answer. */
export async function sendClearRequest(
  client: RequestClient,
  load: Readonly<Record<string, unknown>>,
  timeoutMs: number,
  via?: Via,
): Promise<unknown> {
  const reply = decode(await client.request(packClear(load, GENERATION_3, via), timeoutMs))
  if (reply === 'bad load') {
    throw new SaltError(
      'AUTHENTICATION_FAILED',
      'The master answered "bad load": it may require another protocol generation (minimum_auth_version).',
    )
  }
  return reply
}
