/** Images as Docker has them. */
import type { Context } from 'salt-ts'
import { address, dockerJson, type Json } from './api.ts'
import { byId, sizesOf } from './describe.ts'

export async function inspectImage(name: string, context: Context): Promise<Json> {
  const image = await dockerJson<Json>('GET', address(['images', name, 'json']), context)
  return { ...image, ...sizesOf(image) }
}

export async function imageId(name: string, context: Context): Promise<string | false> {
  const image = await inspectImage(name, context).catch(() => undefined)
  return image ? String(image.Id) : false
}

/** Return the images by id: those with a tag, and with `all` the others. */
export async function allImages(all: boolean, context: Context): Promise<Record<string, Json>> {
  const found = await dockerJson<Json[]>('GET', address(['images', 'json'], { all }), context)
  const isTagged = ({ RepoTags }: Json) =>
    Array.isArray(RepoTags) && RepoTags.length > 0 && RepoTags[0] !== '<none>:<none>'
  return { ...byId(found.filter(isTagged)), ...(all && byId(found.filter((one) => !isTagged(one)))) }
}

export async function tagsOfImages(context: Context): Promise<string[]> {
  const tags = Object.values(await allImages(false, context)).flatMap(({ RepoTags }) => RepoTags as string[])
  return [...new Set(tags)].sort()
}
