import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isTimeIn } from '../../../modules/_schedule/when.ts'
import * as schedule from '../../../modules/schedule.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

let folder: string
let file: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-schedule-')
  await mkdir(join(folder, 'minion.d'))
  file = join(folder, 'minion.d', '_schedule.conf')
})
afterEach(() => removeFolder(folder))

const ask = (
  which: AnyFn,
  given: Record<string, unknown> = {},
  kwargs: object = {},
  over: Partial<Context> = {},
) =>
  call(
    which,
    'kwargs' in which.params ? { ...given, kwargs } : given,
    fakeContext({ opts: { config_dir: folder, default_include: 'minion.d/*.conf' }, ...over }),
  )
const add = (name: string, kwargs: object = {}) =>
  ask(schedule.add, { name }, { function: 'test.ping', seconds: 60, ...kwargs })
const listed = () => ask(schedule.list, { return_yaml: false })
const built = (kwargs: object) =>
  ask(schedule.build_schedule_item, { name: 'a' }, { function: 'test.ping', ...kwargs })

const JOB = { function: 'test.ping', seconds: 60, maxrunning: 1, name: 'a', enabled: true, jid_include: true }

describe('Adding jobs', () => {
  test('a job is added once, and listed as YAML or as a map', async () => {
    expect(await add('a')).toEqual({
      comment: 'Added job: a to schedule.',
      result: true,
      changes: { a: 'added' },
    })
    expect(await add('a')).toEqual({
      comment: 'Job a already exists in schedule.',
      result: false,
      changes: {},
    })
    expect(await listed()).toEqual({ a: JOB })
    expect(await ask(schedule.list)).toBe(`schedule:
  a:
    enabled: true
    function: test.ping
    jid_include: true
    maxrunning: 1
    name: a
    saved: true
    seconds: 60
`)
  })

  test('other keys of the file, its comments, and other fields of a job stay', async () => {
    await writeFile(file, '# mine\nmine_interval: 5\nschedule:\n  old: {function: test.ping, _note: kept}\n')
    await add('a')
    const text = await readFile(file, 'utf8')
    expect(text).toContain('# mine\nmine_interval: 5\n')
    expect(text).toContain('_note: kept')
  })

  test('jobs that are added at the same time are all stored', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    await Promise.all(names.map((name) => add(name)))
    expect(Object.keys((await listed()) as object).sort()).toEqual(names)
  })

  test('with test=True nothing is written', async () => {
    expect(await add('a', { test: true })).toEqual({
      comment: 'Job: a would be added to schedule.',
      result: true,
      changes: {},
    })
    expect(await listed()).toEqual({})
  })

  test('times that exclude each other, and arguments of the wrong kind, are refused in the words of Salt', async () => {
    expect(await built({ seconds: 1, when: '5:00pm' })).toEqual({
      comment: 'Unable to use "seconds", "minutes", "hours", or "days" with "when" or "cron" options.',
      result: false,
    })
    expect(await built({ when: '5:00pm', cron: '* * * * *' })).toEqual({
      comment: 'Unable to use "when" and "cron" options together.  Ignoring.',
      result: false,
    })
    expect(await built({ job_args: 'x' })).toMatchObject({ result: false })
    expect(await built({ job_kwargs: ['x'] })).toMatchObject({ result: false })
    expect(await built({ when: 'tea time' })).toEqual({
      comment: 'Schedule item tea time for "when" in invalid.',
      result: false,
    })
    expect(await add('a', { cron: '* * * * *' })).toMatchObject({
      comment: 'Error: Unable to use "seconds", "minutes", "hours", or "days" with "when" or "cron" options.',
      result: false,
    })
  })

  test.each(['5:00pm', 'Monday 5:00pm', '11/28/2026 17:00', '2026-11-28T17:00:00+01:00', 'Nov 28 2026'])(
    '%s is a time',
    async (when) => {
      expect(await built({ when })).toMatchObject({ when, name: 'a', maxrunning: 1 })
    },
  )

  test('a missing function, and persist=False, are refused with a sentence', async () => {
    expect(() => schedule.build_schedule_item.run({ name: 'a', kwargs: {} }, fakeContext())).toThrow(
      /'function' is missing/,
    )
    await expect(add('a', { persist: false })).rejects.toThrow(/persist=False keeps a change in a running/)
  })
})

describe('Changing jobs', () => {
  beforeEach(() => add('a'))

  test('modify replaces a job, and keeps its function', async () => {
    expect(await ask(schedule.modify, { name: 'a' }, { hours: 2 })).toEqual({
      comment: 'Modified job: a in schedule.',
      changes: { a: { old: JOB, new: { ...JOB, seconds: undefined, hours: 2 } } },
      result: true,
    })
    expect(await ask(schedule.modify, { name: 'a' }, { hours: 2 })).toEqual({
      comment: 'Job a in correct state',
      changes: {},
      result: true,
    })
    expect(await ask(schedule.modify, { name: 'b' }, { hours: 2 })).toMatchObject({
      comment: 'Job b does not exist in schedule.',
      result: false,
    })
  })

  test('a job is disabled and enabled, and left out of the list on request', async () => {
    expect(await ask(schedule.disable_job, { name: 'a' })).toEqual({
      comment: 'Disabled Job a in schedule.',
      result: true,
      changes: { a: 'disabled' },
    })
    expect(await ask(schedule.list, { return_yaml: false, show_disabled: false })).toEqual({})
    expect(await ask(schedule.is_enabled, { name: 'a' })).toEqual({ ...JOB, enabled: false })
    expect(await ask(schedule.enable_job, { name: 'a' })).toMatchObject({ changes: { a: 'enabled' } })
    expect(await ask(schedule.enable_job, { name: 'b' })).toMatchObject({ comment: 'Job b does not exist.' })
  })

  test('the whole schedule can be disabled', async () => {
    expect(await ask(schedule.is_enabled)).toBe(true)
    expect(await ask(schedule.disable)).toEqual({
      comment: 'Disabled schedule on minion.',
      changes: { schedule: 'disabled' },
      result: true,
    })
    expect(await ask(schedule.is_enabled)).toBe(false)
    expect(await ask(schedule.enable)).toMatchObject({ result: true })
    expect(await ask(schedule.is_enabled)).toBe(true)
  })

  test('delete removes one job, and purge all but hidden ones', async () => {
    await add('b')
    await add('__hidden')
    expect(await ask(schedule.delete, { name: 'b' })).toEqual({
      comment: 'Deleted Job b from schedule.',
      result: true,
      changes: { b: 'removed' },
    })
    expect(await ask(schedule.delete, { name: 'b' })).toMatchObject({ comment: 'Job b does not exist.' })
    expect(await ask(schedule.purge)).toEqual({
      comment: ['Deleted job: a from schedule.'],
      changes: { a: 'removed' },
      result: true,
    })
    expect(await listed()).toEqual({})
    expect(await ask(schedule.list, { return_yaml: false, show_all: true })).toHaveProperty('__hidden')
  })

  test('reload takes over the jobs of schedule.conf', async () => {
    expect(await ask(schedule.reload)).toEqual({ comment: [], result: true })
    await writeFile(join(folder, 'minion.d', 'schedule.conf'), 'schedule: {c: {function: test.ping}}\n')
    expect(await ask(schedule.reload)).toMatchObject({ result: true })
    expect(Object.keys((await listed()) as object)).toEqual(['a', 'c'])
  })
})

describe('Running and sending jobs', () => {
  const calls: unknown[][] = []
  beforeEach(() => void calls.splice(0))
  const answering = (answer: unknown): Partial<Context> => ({
    call: (async (...given: unknown[]) => {
      calls.push(given)
      return answer
    }) as Context['call'],
  })

  test('run_job calls the function with its arguments, of a disabled job only with force', async () => {
    await add('a', { job_args: ['x'], job_kwargs: { y: 1 }, enabled: false })
    const over = answering('done')
    expect(await ask(schedule.run_job, { name: 'a' }, {}, over)).toEqual({
      comment: 'Job a is disabled.',
      result: true,
    })
    expect(await ask(schedule.run_job, { name: 'a', force: true }, {}, over)).toEqual({
      comment: 'Scheduling Job a on minion.',
      result: true,
      return: 'done',
    })
    expect(calls).toEqual([['test.ping', ['x'], { y: 1 }]])
  })

  test('a job that another minion added is not deleted here', async () => {
    await add('a', { job_args: ['x'] })
    const given = { name: 'a', target: 'm2' }
    expect(await ask(schedule.move, given, {}, answering({ m2: { result: false } }))).toEqual({
      comment: 'the following minions return False',
      result: true,
      minions: ['m2'],
    })
    expect(await listed()).toHaveProperty('a')
    expect(calls[0]?.[1]).toMatchObject({ arg: expect.arrayContaining(['name="a"', 'job_args=["x"]']) })
    expect(await ask(schedule.move, given, {}, answering({ m2: { result: true } }))).toMatchObject({
      comment: 'Moved Job a from schedule.',
    })
    expect(await listed()).toEqual({})
  })

  test.each([
    ['%b%a%B%A%p%Z%c%x%X', `${'a'.repeat(200)}!`],
    ['%b'.repeat(12), `${'a'.repeat(60)}!`],
    ['%m'.repeat(30), '1'.repeat(45)],
    ['%q', 'x'],
    ['%constructor', 'xonstructor'],
  ])('an invalid time is detected at once: %s', async (time_fmt, current_time) => {
    expect(isTimeIn(time_fmt, current_time)).toBe(false)
  })

  test('times are read in all fields of a format', () => {
    expect(isTimeIn('%A, %d %B %Y %I:%M%p 100%% %z', 'Saturday, 28 November 2026 05:00pm 100% +01:00')).toBe(
      true,
    )
    expect(isTimeIn('%c', 'Sat Nov 28 17:00:00 2026')).toBe(true)
    expect(isTimeIn('%x %X.%f %Z', '11/28/26 17:00:00.123456 UTC')).toBe(true)
    expect(isTimeIn('%j %%c', '366 %c')).toBe(true)
  })

  test('postpone_job and skip_job name an invalid time or name first, and then refuse', async () => {
    await add('a')
    const [current_time, new_time] = ['2030-01-31T10:00:00', '2030-01-31T11:00:00']
    const said = async (given: object, kwargs: object = {}) => [
      await ask(schedule.postpone_job, { name: 'a', current_time, new_time, ...given }, kwargs),
      await ask(schedule.skip_job, { name: 'a', current_time, ...given }, kwargs),
    ]
    const wrong = (comment: string) => Array(2).fill({ comment, result: false })
    expect(await said({ name: 'none' })).toEqual(wrong('Job none does not exist.'))
    for (const time of ['soon', '2030-02-30T10:00:00', '2030-01-31T24:00:00', '2030-01-31'])
      expect(await said({ current_time: time })).toEqual(wrong('Date string could not be parsed.'))
    expect(
      await said({ name: 'none', current_time: '31.1.30', new_time: '1.2.30' }, { time_fmt: '%d.%m.%y' }),
    ).toEqual(wrong('Job none does not exist.'))
    await expect(said({})).rejects.toThrow(/the minion has no scheduler yet/)
  })

  test('functions that need a scheduler are refused with a sentence', () => {
    const run = () => schedule.show_next_fire_time.run({ name: 'a', kwargs: {} }, fakeContext())
    expect(run).toThrow(/the minion has no scheduler yet/)
  })
})
