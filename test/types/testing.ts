/** What the test kit must refuse. As author.ts: lines after `@ts-expect-error` have to be errors. */
import { fn, p } from 'salt-ts'
import { real, run } from 'salt-ts/testing'

const greet = fn({ name: p.string() }, async ({ name }) => `Hello, ${name}!`)

export async function tests(): Promise<void> {
  const { result } = await run(greet, { name: 'Ada' })
  result.toUpperCase()
  // @ts-expect-error a text
  result.toFixed()
  await run(greet, ['Ada'], { calls: { 'cmd.run': 'root', 'test.ping': real, 'ours.own': 7 } })
  await run(greet, ['Ada'], { calls: { 'cmd.run': ({ cmd }) => `ran ${cmd}`, 'ours.own': ({ a }) => a } })
  // @ts-expect-error cmd.run gives a text
  await run(greet, ['Ada'], { calls: { 'cmd.run': 7 } })
  // @ts-expect-error cmd.run gives a text
  await run(greet, ['Ada'], { calls: { 'cmd.run': () => 7 } })
  // @ts-expect-error a minion has no such service
  await run(greet, ['Ada'], { minion: { fly: async () => true } })
}
