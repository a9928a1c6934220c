import { vi } from 'vitest'

/** Run something and give what it wrote to standard output and standard error, and what it gave. */
export async function captured<T>(
  work: () => Promise<T>,
): Promise<{ result: T; stdout: string; stderr: string }> {
  const texts = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      texts[name] += String(chunk)
      return true
    }),
  )
  try {
    const result = await work()
    return { result, ...texts }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
