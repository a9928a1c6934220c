import { join } from 'node:path'
import { CommandExecutionError } from 'salt-ts'
import { fromMsgpack, msgpack } from '#internal'
import { withPlace } from '../_file/place.ts'
import { readRegular } from '../_file/regular.ts'
import { writeContent } from '../_file/text.ts'
import { entriesOf, isMapping } from '../_values/traverse.ts'

/** Return the headers that the last answer left in the file of a session. */
export async function sessionHeaders(jar: string): Promise<Record<string, string>> {
  const bytes = await readRegular(jar).catch(() => undefined)
  if (!bytes) return {}
  const kept = contentOf(bytes, jar)
  return isMapping(kept)
    ? Object.fromEntries(entriesOf(kept).map(([name, value]) => [name, String(value)]))
    : {}
}

function contentOf(bytes: Buffer, jar: string): unknown {
  try {
    return fromMsgpack(bytes)
  } catch {
    throw new CommandExecutionError(`${jar} is no file of a session`)
  }
}

/** Cookies let their holder in. */
const MODE_OF_NEW_JAR = 0o600

/** Keep the cookies of an answer for the next request. */
export async function keepSession(jar: string, cookies: string | undefined): Promise<void> {
  if (cookies === undefined) return
  const content = msgpack({ Cookie: cookies })
  await withPlace(jar, (place) => writeContent(place, content, { mode: MODE_OF_NEW_JAR }))
}

/** Return the file of the session: by default one in the cache. */
export const sessionJar = (path: string | undefined, cachedir: unknown): string =>
  path ?? join(String(cachedir), 'cookies.session.p')
