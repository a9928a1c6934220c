/** The rules by which extensions are checked before they ship. docs/check.md explains each. */

/** `error`: it does not work. `warning`: it fails, or harms, in some cases. `note`: nothing has to be done. */
export type Severity = 'error' | 'warning' | 'note'

interface Rule {
  readonly severity: Severity
  /** What the rule finds, in a few words. */
  readonly finds: string
}

export const rules = {
  'unfound-file': { severity: 'warning', finds: 'an extension where no loader finds it' },
  'hidden-file': { severity: 'warning', finds: 'a file whose name another file has' },
  'import-fails': { severity: 'error', finds: 'a file whose import throws' },
  'import-blocks': { severity: 'error', finds: 'a file that does not finish loading' },
  'import-exits': { severity: 'error', finds: 'a file whose import ends its process' },
  'process-exit': { severity: 'error', finds: 'code that ends the process of a job' },
  'keeps-alive': { severity: 'warning', finds: 'an import that keeps its process alive' },
  'missing-import': { severity: 'error', finds: 'an import of a file that is not there' },
  'circular-import': { severity: 'warning', finds: 'files that import each other' },
  'missing-package': { severity: 'error', finds: 'a package that is not installed' },
  'undeclared-package': { severity: 'warning', finds: 'a package that is not among the dependencies' },
  'install-script': { severity: 'warning', finds: 'a package that needs a script when it is installed' },
  'default-export': { severity: 'error', finds: 'a default export where functions have names' },
  'plugin-export': { severity: 'error', finds: 'a plugin without the default export of its kind' },
  'nothing-offered': { severity: 'error', finds: 'a file without functions for users' },
  'hides-built-in': { severity: 'warning', finds: 'a name that salt-ts has itself' },
  'trailing-underscore': { severity: 'warning', finds: 'a function whose name ends with _' },
  'virtual-fails': {
    severity: 'error',
    finds: 'virtual, virtualName, virtualAliases, init or dependsOn that fails',
  },
  'virtual-refuses': { severity: 'note', finds: 'a file or function that is not offered on this host' },
  'invalid-schema': { severity: 'error', finds: 'a schema that cannot be used' },
  'invalid-default': { severity: 'error', finds: 'a default that its own parameter refuses' },
  'required-after-optional': {
    severity: 'warning',
    finds: 'a required parameter after one that may be left out',
  },
  'unbindable-parameter': { severity: 'error', finds: 'a parameter that no caller can give' },
  'undeclared-secret': { severity: 'warning', finds: 'a secret that is shown in logs and job caches' },
  'unencodable-result': { severity: 'error', finds: 'a result that cannot be sent' },
  'results-unchecked': { severity: 'note', finds: 'that results were not checked' },
  'unknown-call': { severity: 'warning', finds: 'a call of a function that is nowhere' },
  'refused-example': { severity: 'warning', finds: 'an example that would be refused' },
} as const satisfies Readonly<Record<string, Rule>>

export type RuleId = keyof typeof rules

/** A place in a file; lines and columns are counted from 1. */
export interface Place {
  /** Absolute path. */
  readonly file: string
  readonly line: number
  readonly column: number
}

export interface Finding extends Place {
  readonly rule: RuleId
  readonly severity: Severity
  /** A sentence: what is wrong, and what to do. */
  readonly message: string
}

export const finding = (rule: RuleId, { file, line, column }: Place, message: string): Finding => ({
  rule,
  severity: rules[rule].severity,
  file,
  line,
  column,
  message,
})
