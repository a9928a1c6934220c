import type { Context } from 'salt-ts'
import { address, DockerRefusal, docker } from './api.ts'
import { containers, plainName } from './containers.ts'
import { allImages, inspectImage, tagsOfImages } from './images.ts'

export interface Removed {
  /** Ids of the layers that are gone. */
  readonly Layers: readonly string[]
  readonly Tags: readonly string[]
  readonly retcode: number
  readonly Errors?: readonly string[]
}

/** Remove images, and say which layers and tags are gone, and what Docker refused. */
export async function removeImages(
  names: readonly string[],
  { force, prune }: { readonly force: boolean; readonly prune: boolean },
  context: Context,
): Promise<Removed> {
  const before = { layers: Object.keys(await allImages(true, context)), tags: await tagsOfImages(context) }
  const errors: string[] = []
  for (const name of names) {
    const id = String((await inspectImage(name, context)).Id)
    try {
      await docker('DELETE', address(['images', id], { force, noprune: !prune }), context)
    } catch (error) {
      if (!(error instanceof DockerRefusal)) throw error
      errors.push(...(await reasons(error, name, context)))
    }
  }
  const [layers, tags] = [Object.keys(await allImages(true, context)), await tagsOfImages(context)]
  if (errors.length > 0) context.retcode = 1
  return {
    Layers: before.layers.filter((id) => !layers.includes(id)),
    Tags: before.tags.filter((tag) => !tags.includes(tag)),
    retcode: errors.length > 0 ? 1 : 0,
    ...(errors.length > 0 && { Errors: errors }),
  }
}

/** Return the containers that use an image, and the images that were made from it. */
export async function dependents(
  name: string,
  context: Context,
): Promise<{ Containers: string[]; Images: string[] }> {
  const { Id } = await inspectImage(name, context)
  const all = await containers({ all: true }, context)
  return {
    Containers: Object.values(all).flatMap(({ ImageID, Names }) =>
      ImageID === Id ? (Names as string[]).map(plainName) : [],
    ),
    Images: Object.entries(await allImages(true, context)).flatMap(([id, { ParentId }]) =>
      ParentId === Id ? [id.slice(0, 12)] : [],
    ),
  }
}

/** Return what a refusal to remove an image says, and what uses the image. */
async function reasons(error: DockerRefusal, name: string, context: Context): Promise<string[]> {
  if (error.status !== 409) return [error.message]
  const { Containers, Images } = await dependents(name, context)
  const users = [
    ...(Containers.length > 0 ? [`container(s): ${Containers.join(', ')}`] : []),
    ...(Images.length > 0 ? [`image(s): ${Images.join(', ')}`] : []),
  ]
  return [error.reason, ...(users.length > 0 ? [`Image is in use by ${users.join(' and ')}`] : [])]
}
