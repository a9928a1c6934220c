import { readdir, readlink, stat } from 'node:fs/promises'

/** List the files that processes have open, each with the ids of the processes; by process with `byPid`. */
export async function openFiles(byPid: boolean, signal: AbortSignal): Promise<Record<string, unknown[]>> {
  const ofProcess: Record<string, string[]> = {}
  const ofFile = new Map<string, number[]>()
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    signal.throwIfAborted()
    ofProcess[pid] = await filesOf(`/proc/${pid}`)
    for (const file of ofProcess[pid]) ofFile.set(file, [...(ofFile.get(file) ?? []), Number(pid)])
  }
  if (byPid) return ofProcess
  return Object.fromEntries([...ofFile].map(([file, pids]) => [file, pids.toSorted((a, b) => a - b)]))
}

/** Processes, their threads and descriptors may end meanwhile, or belong to others. */
async function filesOf(folder: string): Promise<string[]> {
  const names = (path: string) => readdir(path).catch(() => [])
  const threads = (await names(`${folder}/task`)).map((thread) => `${folder}/task/${thread}`)
  const links = await Promise.all(
    [folder, ...threads].map(async (place) => [
      ...(place === folder ? [] : [`${place}/exe`]),
      ...(await names(`${place}/fd`)).map((descriptor) => `${place}/fd/${descriptor}`),
    ]),
  )
  const files = new Set<string>()
  for (const link of links.flat()) {
    const file = await readlink(link).catch(() => '')
    if (file.startsWith('/') && !files.has(file) && (await stat(file).catch(() => undefined))) files.add(file)
  }
  return [...files].sort()
}
