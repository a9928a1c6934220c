import { ask, mapIn, SERVER } from './get.ts'

/** Read what Azure knows about the machine; nothing elsewhere. */
export async function azure(server = SERVER): Promise<Record<string, unknown>> {
  const url = `${server}/metadata/instance?api-version=2020-09-01`
  return mapIn(await ask(url, { headers: { Metadata: 'true' } }))
}

/** Read what Google's cloud knows about the machine; nothing elsewhere. */
export async function gce(server = SERVER): Promise<Record<string, unknown>> {
  const greeting = await ask(server)
  if (greeting?.status !== 200 || greeting.headers['metadata-flavor'] !== 'Google') return {}
  const url = `${server}/computeMetadata/v1/?alt=json&recursive=true`
  return mapIn(await ask(url, { headers: { 'Metadata-Flavor': 'Google' } }))
}
