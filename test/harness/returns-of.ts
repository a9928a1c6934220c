import {
  type AnyRequest,
  hasReturned,
  type LocalClient,
  type PublishRequest,
} from '../../core/client/index.ts'

/** Run a job, and return what minions have returned, also failed ones, by id. */
export async function returnsOf(
  client: Pick<LocalClient, 'cmd'>,
  request: AnyRequest,
): Promise<Record<string, unknown>> {
  const results = Object.values(await client.cmd(request as PublishRequest)).filter(hasReturned)
  return Object.fromEntries(results.map(({ id, return: value }) => [id, value]))
}
