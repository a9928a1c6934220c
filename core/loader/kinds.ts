/** The kinds of extensions. One row is all a new kind needs. */
export type KindName = 'modules' | 'runners' | 'returners' | 'outputters' | 'grains' | 'matchers'

export interface Kind {
  readonly name: KindName
  /** `functions`: every export is a function users call. `plugin`: one default export per file. */
  readonly shape: 'functions' | 'plugin'
  /** Folder of the built-in ones, from the package's root. */
  readonly builtIn: string
  /** Names of the folder inside `module_dirs` and `extension_modules`; the first is ours, others are Salt's. */
  readonly folders: readonly [string, ...string[]]
  /** Config keys, Salt's names. */
  readonly dirsKey: string
  readonly disableKey: string
  readonly whitelistKey?: string
  /** Functions the default export of a plugin must have. */
  readonly members?: readonly string[]
}

export const kinds: ReadonlyMap<string, Kind> = new Map(
  (
    [
      {
        name: 'modules',
        shape: 'functions',
        builtIn: 'modules',
        folders: ['modules'],
        dirsKey: 'module_dirs',
        disableKey: 'disable_modules',
        whitelistKey: 'whitelist_modules',
      },
      {
        name: 'runners',
        shape: 'functions',
        builtIn: 'runners',
        folders: ['runners'],
        dirsKey: 'runner_dirs',
        disableKey: 'disable_runners',
      },
      {
        name: 'returners',
        shape: 'plugin',
        builtIn: 'returners',
        folders: ['returners'],
        dirsKey: 'returner_dirs',
        disableKey: 'disable_returners',
      },
      {
        name: 'outputters',
        shape: 'plugin',
        builtIn: 'plugins/outputters',
        folders: ['outputters', 'output'],
        dirsKey: 'outputter_dirs',
        disableKey: 'disable_outputs',
        members: ['render'],
      },
      {
        name: 'grains',
        shape: 'plugin',
        builtIn: 'plugins/grains',
        folders: ['grains'],
        dirsKey: 'grains_dirs',
        disableKey: 'disable_grains',
        members: ['collect'],
      },
      {
        name: 'matchers',
        shape: 'plugin',
        builtIn: 'plugins/matchers',
        folders: ['matchers'],
        dirsKey: 'matchers_dirs',
        disableKey: 'disable_matchers',
        members: ['match'],
      },
    ] satisfies Kind[]
  ).map((kind) => [kind.name, kind]),
)
