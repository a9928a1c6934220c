/** What is measured is what was built: these are the compiled modules, with the types of their sources. */
const load = (file: string) => import(new URL(`../../dist/core/${file}.js`, import.meta.url).href)

export const codec: typeof import('../../core/codec/index.ts') = await load('codec/index')
export const crypto: typeof import('../../core/crypto/index.ts') = await load('crypto/index')
export const { getTransport }: typeof import('../../core/transport/index.ts') = await load('transport/index')
export const { openDevice, openWorker }: typeof import('../../core/transport/device.ts') =
  await load('transport/device')
export const { signIn }: typeof import('../../core/channel/sign-in-client.ts') =
  await load('channel/sign-in-client')
export const { packAes, readLoad }: typeof import('../../core/wire/envelope.ts') = await load('wire/envelope')
export const { readPublication, readJobLoad }: typeof import('../../core/wire/publication.ts') =
  await load('wire/publication')
export const { asBytes }: typeof import('../../core/wire/bytes.ts') = await load('wire/bytes')
export const { makeReturn }: typeof import('../../core/wire/return.ts') = await load('wire/return')
export const { LocalClient, loadMasterConfig }: typeof import('../../core/client/index.ts') =
  await load('client/index')
export const { topicOf }: typeof import('../../core/channel/publish-channel.ts') =
  await load('channel/publish-channel')
