/** What typed jobs must refuse. As author.ts: lines after `@ts-expect-error` have to be errors. */
import { fn, type MasterServices, p, type ResultOf, untyped } from 'salt-ts'
import { hasReturned, type LocalClient } from 'salt-ts/client'

/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
declare function same<A, B>(yes: Same<A, B>): void
declare const client: LocalClient
declare const master: MasterServices
const tgt = '*'

export const forecast = fn({ city: p.string(), days: p.default(p.integer(), 1) }, async ({ city, days }) => ({
  city,
  degrees: Array.from({ length: days }, () => 20),
}))
declare module 'salt-ts' {
  interface Functions {
    'weather.forecast': typeof forecast
  }
}

export async function results(): Promise<void> {
  // Results have the type of the function, once it is known that there is one.
  const { web1 } = await client.cmd({ tgt, fun: 'weather.forecast', kwarg: { city: 'Oslo' } })
  if (web1?.state === 'returned') {
    same<typeof web1.return, ResultOf<typeof forecast>>(true)
    web1.return.degrees.map((degrees) => degrees.toFixed())
    // @ts-expect-error not what it returns
    web1.return.humidity
  } else if (web1?.state === 'failed') {
    same<typeof web1.return, unknown>(true)
    web1.retcode.toFixed()
    // @ts-expect-error it has returned
    web1.reason
  } else web1?.reason.trim()
  // @ts-expect-error it may not have returned
  web1?.return

  for await (const result of await client.cmdIter({ tgt, fun: 'cmd.run', arg: ['id'] }))
    if (result.state === 'returned') result.return.split('\n')
  for await (const result of await client.cmdStream({ tgt, fun: 'cmd.run_all', kwarg: { cmd: 'id' } }))
    if (result.state === 'returned') result.return.retcode.toFixed()
  for await (const result of await client.cmdBatch({ tgt, fun: 'test.ping' }, '10%'))
    if (result.state === 'returned') same<typeof result.return, boolean>(true)
    else if (hasReturned(result)) result.retcode.toFixed()
  for await (const result of master.run({ tgt, fun: 'cmd.run', kwarg: { cmd: 'id' } }))
    if (result.state === 'returned') result.return.trim()
    else result.missing?.trim()

  // Several functions are a tuple, with the arguments of each; their result is a map.
  const { db1 } = await client.cmd({ tgt, fun: ['weather.forecast', 'test.ping'], arg: [['Oslo'], []] })
  if (db1?.state === 'returned') {
    db1.return['weather.forecast'].degrees.length.toFixed()
    same<(typeof db1.return)['test.ping'], boolean>(true)
  }

  // What nobody declares is called by `untyped`, and gives something unknown.
  const { db2 } = await client.cmd({ tgt, fun: untyped('state.apply'), arg: ['web'], kwarg: { test: true } })
  if (db2?.state === 'returned') same<typeof db2.return, unknown>(true)
  await client.runJob({ tgt, fun: [untyped('state.apply'), untyped('state.test')] })
}

export async function mistakes(fun: string): Promise<void> {
  // @ts-expect-error no such function
  await client.cmd({ tgt, fun: 'weather.forcast', kwarg: { city: 'Oslo' } })
  // @ts-expect-error any text may be the name of nothing
  await client.cmdIter({ tgt, fun })
  // @ts-expect-error an argument is missing
  await client.cmd({ tgt, fun: 'weather.forecast' })
  // @ts-expect-error the city is missing
  await client.plan({ tgt, fun: 'weather.forecast', kwarg: { days: 2 } })
  // @ts-expect-error of another type
  await client.runJob({ tgt, fun: 'weather.forecast', kwarg: { city: 7 } })
  // @ts-expect-error no such parameter
  await client.cmdStream({ tgt, fun: 'weather.forecast', kwarg: { city: 'Oslo', day: 2 } })
  // @ts-expect-error no parameter is a date
  await client.cmdAsync({ tgt, fun: 'weather.forecast', arg: [new Date()] })
  // @ts-expect-error takes no arguments
  await client.cmd({ tgt, fun: 'test.ping', kwarg: { loud: true } })
  // @ts-expect-error no such setting of a job
  await client.cmd({ tgt, fun: 'test.ping', timout: 5 })
  // @ts-expect-error no such function
  await client.cmdBatch({ tgt, fun: 'test.pign' }, 2)
  // @ts-expect-error the second is none
  await client.cmd({ tgt, fun: ['test.ping', 'test.pign'] })
  // @ts-expect-error no parameter is a date
  await client.cmd({ tgt, fun: ['weather.forecast', 'test.ping'], arg: [[new Date()], []] })
  // @ts-expect-error a target is text, or a list of texts
  await client.cmd({ tgt: 7, fun: 'test.ping' })
  // @ts-expect-error a target type is a name
  await client.cmd({ tgt: ['web1'], tgtType: ['list'], fun: 'test.ping' })
  // @ts-expect-error a target is text, or a list of texts
  master.run({ tgt: { id: 'web1' }, fun: 'test.ping' })
  // @ts-expect-error no such function
  master.run({ tgt, fun: 'test.pign' })
  // @ts-expect-error no such parameter
  master.run({ tgt, fun: 'cmd.run', kwarg: { command: 'id' } })
}
