/** Copies of files that `backup: minion` keeps below the minion's cache, by the path of the file and the time. */

import { mkdir, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join, normalize } from 'node:path'
import type { Context } from 'salt-ts'
import { MONTHS } from '#internal'
import { errorText, expandHome, statOf } from './paths.ts'
import { type Place, withPlace } from './place.ts'
import { withFile } from './reading.ts'
import { copyInto } from './text.ts'

type Backup = {
  readonly 'Backup Time': string
  readonly Size: number
  readonly Location: string
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const STAMP = /^(\w{3})_(\w{3})_(\d{2})_(\d{2}:\d{2}:\d{2})_(\d{6})_(\d{4})$/

const folderFor = (path: string, { opts }: Context): string =>
  join(String(opts.cachedir), 'file_backup', normalize(`/${dirname(path)}`))

function stampOf(time: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')
  const micros = String(time.getMilliseconds()).padStart(3, '0').padEnd(6, '0')
  return `${DAYS[time.getDay()]}_${MONTHS[time.getMonth()]}_${two(time.getDate())}_${clock}_${micros}_${time.getFullYear()}`
}

/** Keep a copy of a file as `backup: minion` does. Below the cache nobody else may write. */
export async function keepBackup({ path, file }: Place, context: Context): Promise<void> {
  if (!file) return
  const copy = join(folderFor(path, context), `${basename(path)}_${stampOf(new Date())}`)
  await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
  const kept: Place = { path: copy, at: copy, folder: file.stats, file }
  await withFile(file.at, (source) => copyInto(kept, source, { signal: context.signal }), { path })
}

/** List the backups of a file, the newest first, by number. */
export async function listBackups(given: string, limit: number | undefined, context: Context) {
  const path = await expandHome(given)
  const folder = folderFor(path, context)
  const names = await readdir(folder).catch(() => [])
  return numbered(
    folder,
    names.filter((name) => name.startsWith(`${basename(path)}_`)),
    basename(path),
    limit,
  )
}

/** List the backups of all files of a folder, by the name of the file. */
export async function listFolderBackups(given: string, limit: number | undefined, context: Context) {
  const path = await expandHome(given)
  const folder = folderFor(path, context)
  const names = await readdir(folder).catch(() => [])
  const stem = (name: string) => name.split('_').slice(0, -6).join('_')
  const files = new Set(names.map(stem).filter((name) => name !== ''))
  const listed = [...files].map(async (file) => [
    file,
    await numbered(
      folder,
      names.filter((name) => stem(name) === file),
      file,
      limit,
    ),
  ])
  return Object.fromEntries(await Promise.all(listed)) as Record<string, Record<string, Backup>>
}

async function numbered(folder: string, names: readonly string[], file: string, limit: number | undefined) {
  const dated = names.flatMap((name) => {
    const [, day, month, date, clock, micros, year] = STAMP.exec(name.slice(file.length + 1)) ?? []
    if (year === undefined) return []
    const place = String(MONTHS.indexOf(month as string)).padStart(2, '0')
    return [
      {
        name,
        order: `${year}${place}${date}${clock}${micros}`,
        time: `${day} ${month} ${date} ${year} ${clock}.${micros}`,
      },
    ]
  })
  const newest = dated.toSorted((one, other) => (one.order < other.order ? 1 : -1)).slice(0, limit)
  const rows = newest.map(async ({ name, time }, index): Promise<[number, Backup]> => {
    const place = join(folder, name)
    return [index, { 'Backup Time': time, Size: (await statOf(place))?.size ?? 0, Location: place }]
  })
  return Object.fromEntries(await Promise.all(rows)) as Record<string, Backup>
}

type Chosen = { readonly backup: Backup } | { readonly comment: string }

async function chosen(path: string, id: unknown, context: Context): Promise<Chosen> {
  if (!/^(0|[1-9]\d*)$/.test(String(id))) return { comment: `Invalid backup_id '${id}'` }
  const backup = (await listBackups(path, undefined, context))[String(id)]
  return backup ? { backup } : { comment: `backup_id '${id}' does not exist for ${path}` }
}

/** Put a backup in place of the file, after the present content has been backed up. */
export async function restore(given: string, id: unknown, context: Context) {
  const path = await expandHome(given)
  const choice = await chosen(path, id, context)
  if ('comment' in choice) return { result: false, comment: choice.comment }
  const { Location } = choice.backup
  try {
    await withPlace(path, async (place) => {
      await keepBackup(place, context)
      await withFile(Location, (source, { uid, gid, mode }) =>
        copyInto(place, source, {
          signal: context.signal,
          ...(!place.file && { exact: { uid, gid, mode: mode & 0o7777 } }),
        }),
      )
    })
    return { result: true, comment: `Successfully restored ${Location} to ${path}` }
  } catch (error) {
    return { result: false, comment: `Unable to restore ${Location} to ${path}: ${errorText(error)}` }
  }
}

/** Remove a backup. */
export async function removeBackup(given: string, id: unknown, context: Context) {
  const path = await expandHome(given)
  const choice = await chosen(path, id, context)
  if ('comment' in choice) return { result: false, comment: choice.comment }
  const { Location } = choice.backup
  try {
    await rm(Location)
    return { result: true, comment: `Successfully removed ${Location}` }
  } catch (error) {
    return { result: false, comment: `Unable to remove ${Location}: ${errorText(error)}` }
  }
}
