/** What may be wrong with a template. */

/** An error at a line of a template. `template` is its name, if it is not the one that is rendered. */
export class TemplateError extends Error {
  override name = 'TemplateError'
  line: number | undefined
  template: string | undefined

  constructor(message: string, { line, cause }: { line?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.line = line
  }
}

/** The text is no template. */
export class TemplateSyntaxError extends TemplateError {
  override name = 'TemplateSyntaxError'
}

/** A name, attribute or element that is used is not there. */
export class UndefinedError extends TemplateError {
  override name = 'UndefinedError'
}

/** A function that the template calls failed. */
export class CalledFunctionError extends TemplateError {
  override name = 'CalledFunctionError'
}

/** Run something of which each error is one of the template. */
export function asTemplateError<T>(run: () => T): T {
  try {
    return run()
  } catch (cause) {
    if (cause instanceof TemplateError) throw cause
    throw new TemplateError((cause as Error).message, { cause })
  }
}
