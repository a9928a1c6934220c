/** Images that go from a registry to this host, and back. */
import type { Context } from 'salt-ts'
import { address, dockerEvents, type Json } from './api.ts'
import { allImages } from './images.ts'
import { pulled } from './progress.ts'

export async function pullImage(image: string, api_response: boolean, context: Context): Promise<Json> {
  const before = Object.keys(await allImages(true, context)).map((id) => id.slice(0, 12))
  const since = Date.now()
  const path = address(['images', 'create'], sourceOf(image))
  const events = await dockerEvents('POST', path, context)
  const result = pulled(events, before)
  if (result.retcode !== 0) context.retcode = 1
  return {
    Time_Elapsed: (Date.now() - since) / 1000,
    ...(api_response && { API_Response: events.map((event) => JSON.stringify(event)) }),
    ...result,
  }
}

/** Separate the name of an image from its tag or digest. The port of a registry is no tag. */
function sourceOf(image: string): { fromImage: string; tag: string } {
  const [, fromImage = image, digest, tag] = /^(.+?)(?:@(.+)|:([^:/]+))?$/.exec(image) ?? []
  return { fromImage, tag: digest ?? tag ?? 'latest' }
}
