/** A module of the kernel, by the names of `lsmod`. */
export interface LoadedModule {
  readonly size: string
  readonly module: string
  readonly depcount: string
  readonly deps: string[]
}

/** Read /proc/modules: name, size, number of uses, and the modules that use it. */
export function readModules(text: string): LoadedModule[] {
  const rows = text.split('\n').filter(Boolean)
  return rows.map((line) => {
    const [module = '', size = '', depcount = '', users = ''] = line.split(' ')
    return { size, module, depcount, deps: users.split(',').filter((name) => name !== '' && name !== '-') }
  })
}
