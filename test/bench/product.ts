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
export const { MinionData }: typeof import('../../core/jobs/minion-data.ts') = await load('jobs/minion-data')
export const { cachedMinions }: typeof import('../../core/jobs/cached-minions.ts') =
  await load('jobs/cached-minions')
export const { expectedMinions }: typeof import('../../core/targets/index.ts') = await load('targets/index')
export const { openMatchers }: typeof import('../../core/targets/open-match.ts') =
  await load('targets/open-match')
export const { JobCache }: typeof import('../../core/jobs/job-cache.ts') = await load('jobs/job-cache')
export const { jobCacheDirectory }: typeof import('../../core/jobs/paths.ts') = await load('jobs/paths')
export const { createMasterServices }: typeof import('../../core/client/master-services.ts') =
  await load('client/master-services')
export const { encodeEvent }: typeof import('../../core/events/event.ts') = await load('events/event')
export const { packFrame }: typeof import('../../core/events/frames.ts') = await load('events/frames')
export const { EventBus, masterEventSockets }: typeof import('../../core/events/index.ts') =
  await load('events/index')
export const { Outbox }: typeof import('../../core/jobs/outbox.ts') = await load('jobs/outbox')
export const { openJobCache }: typeof import('../../core/jobs/open-job-cache.ts') =
  await load('jobs/open-job-cache')
export const { eventOutboxDirectory }: typeof import('../../core/jobs/paths.ts') = await load('jobs/paths')
export const { createReturnerAdmin }: typeof import('../../core/client/returner-admin.ts') =
  await load('client/returner-admin')
