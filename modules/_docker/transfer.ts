/** Images that go from a registry to this host, and back. */
import type { Context } from 'salt-ts'
import { address, dockerEvents, type Json } from './api.ts'
import { authHeader } from './credentials.ts'
import { allImages } from './images.ts'
import { pulled, pushed } from './progress.ts'

export async function pullImage(image: string, api_response: boolean, context: Context): Promise<Json> {
  const before = Object.keys(await allImages(true, context)).map((id) => id.slice(0, 12))
  const since = Date.now()
  const { repository: fromImage, tag = 'latest' } = nameParts(image)
  const path = address(['images', 'create'], { fromImage, tag })
  const events = await dockerEvents('POST', path, context, { headers: await authHeader(image, context) })
  return resultOf(pulled(events, before), { events, since, api_response }, context)
}

/** Push an image to its registry: the tag of its name, or all tags of a name without one. */
export async function pushImage(image: string, api_response: boolean, context: Context): Promise<Json> {
  const { repository, tag } = nameParts(image)
  const since = Date.now()
  const path = address(['images', repository, 'push'], { tag })
  const events = await dockerEvents('POST', path, context, { headers: await authHeader(image, context) })
  return resultOf(pushed(events), { events, since, api_response }, context)
}

interface Transfer {
  readonly events: readonly Json[]
  /** Milliseconds since 1970. */
  readonly since: number
  readonly api_response: boolean
}

/** Return the result of a transfer, and set the return code. */
function resultOf(
  moved: Json & { readonly retcode: number },
  { events, since, api_response }: Transfer,
  context: Context,
): Json {
  if (moved.retcode !== 0) context.retcode = 1
  return {
    Time_Elapsed: (Date.now() - since) / 1000,
    ...(api_response && { API_Response: events.map((event) => JSON.stringify(event)) }),
    ...moved,
  }
}

/** Separate the name of an image from its tag or digest. The port of a registry is no tag. */
function nameParts(image: string): { repository: string; tag: string | undefined } {
  const [, repository = image, digest, tag] = /^(.+?)(?:@(.+)|:([^:/]+))?$/.exec(image) ?? []
  return { repository, tag: digest ?? tag }
}
