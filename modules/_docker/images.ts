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

/** Return a list of the tags of an image; its id if it has none, and undefined if it is not on this host. */
export async function tagsOf(name: string, context: Context): Promise<[string, ...string[]] | undefined> {
  const image = await inspectImage(name, context).catch(() => undefined)
  if (!image) return undefined
  const [first = String(image.Id), ...others] = (image.RepoTags as string[] | null) ?? []
  return [first, ...others]
}

/** Return those of some images from which no other image was made. */
export function topLevel(
  images: Readonly<Record<string, Json>>,
  ids: readonly string[] = Object.keys(images),
): string[] {
  const parents = new Set(Object.values(images).map(({ ParentId }) => ParentId))
  return ids.filter((id) => !parents.has(id))
}

/** Return the images by id: those with a tag, and with `all` the others. */
export async function allImages(all: boolean, context: Context): Promise<Record<string, Json>> {
  const found = await dockerJson<Json[]>('GET', address(['images', 'json'], { all }), context)
  return { ...byId(found.filter(isTagged)), ...(all && byId(found.filter((one) => !isTagged(one)))) }
}

/** Whether an image has a tag. Docker says so in several ways if it has none. */
export const isTagged = ({ RepoTags }: Json): boolean =>
  Array.isArray(RepoTags) && RepoTags.length > 0 && RepoTags[0] !== '<none>:<none>'

export async function tagsOfImages(context: Context): Promise<string[]> {
  const tags = Object.values(await allImages(false, context)).flatMap(({ RepoTags }) => RepoTags as string[])
  return [...new Set(tags)].sort()
}
