# Prints the completions of the command line $LINE: one word per line, each followed by a tab and its description.
# Reads tables with fields separated by tabs: those of the build (folder $OWN), and those of a configuration (folder
# $KNOWN, may be empty). Runs in any POSIX awk, at each Tab: it takes 3 ms where the start of Node alone takes 40.

BEGIN {
  count = split_words(ENVIRON["LINE"])
  for (start = 1; start < count; start++) if (read_options(basename(word[start]))) break
  if (start >= count) exit
  current = word[count]
  read_typed(start + 1, count - 1)
  propose()
}

function basename(path) {
  sub(/.*\//, "", path)
  return path
}

# Fills `word`. The last word, perhaps empty, is to be completed.
function split_words(line,    at, char, quote, open, count) {
  count = 1
  word[1] = ""
  for (at = 1; at <= length(line); at++) {
    char = substr(line, at, 1)
    if (quote != "") {
      if (char == quote) quote = ""
      else word[count] = word[count] char
    } else if (char == "'" || char == "\"") {
      quote = char
      open = 1
    } else if (char ~ /[ \t\n]/) {
      if (open) word[++count] = ""
      open = 0
    } else {
      if (char == "\\") char = substr(line, ++at, 1)
      word[count] = word[count] char
      open = 1
    }
  }
  return count
}

# Reads rows: name, letter, aliases, `value` if the option takes one, allowed values, description. Returns false if
# that is none of our programs.
function read_options(name,    file, field, other, n) {
  if (name == "") return 0
  file = ENVIRON["OWN"] "/options-" name
  while ((getline < file) > 0) {
    split($0, field, "\t")
    options++
    long[options] = field[1]
    letter[options] = field[2]
    takes[options] = field[4] == "value"
    choices[options] = field[5]
    meaning[options] = field[6]
    number["--" field[1]] = options
    if (field[2] != "") number["-" field[2]] = options
    for (n = split(field[3], other, ","); n > 0; n--) number["--" other[n]] = options
  }
  close(file)
  program = name
  return options > 0
}

# Returns the number of the option that a word is. Sets `complete` if the word holds its value, or it takes none.
function option_of(text,    name, equals, found) {
  equals = index(text, "=")
  name = equals ? substr(text, 1, equals - 1) : text
  if (name ~ /^-[^-]./) {
    complete = 1
    name = substr(name, 1, 2)
  } else complete = equals > 0
  found = name in number ? number[name] : 0
  if (found && !takes[found]) complete = 1
  return found
}

# Sorts the typed words: `given` options, `operand` words that belong to no option, and `waiting`, the option whose
# value comes next.
function read_typed(from, to,    at, option) {
  for (at = from; at <= to; at++) {
    if (!ended && word[at] == "--") {
      ended = 1
      continue
    }
    option = ended ? 0 : option_of(word[at])
    if (!option) {
      operand[++operands] = word[at]
      continue
    }
    given[long[option]] = 1
    if (!complete && ++at > to) waiting = option
  }
}

function propose(    option, equals) {
  if (waiting) return values(waiting, "")
  if (ended || current !~ /^-/) return operand_words()
  equals = index(current, "=")
  option = equals ? option_of(current) : 0
  if (option) return values(option, substr(current, 1, equals))
  if (current !~ /^--/)
    for (option = 1; option <= options; option++)
      if (letter[option] != "") offer("-" letter[option], meaning[option])
  for (option = 1; option <= options; option++) offer("--" long[option], meaning[option])
}

# Offers values of an option. None for paths, which shells complete themselves.
function values(option, before,    name) {
  name = long[option]
  if (name == "out") return rows("outputters", before)
  if (name == "return") return rows("returners", upto_last("=,"))
  if (name == "module-executors") return rows("executors", before)
  if (program == "salt-key" && name ~ /^(accept|reject)$/) return keys("minions_pre", before)
  if (program == "salt-key" && name ~ /^(delete|print|finger)$/)
    return keys("minions minions_pre minions_rejected minions_denied", before)
  if (program == "salt-key" && name == "list")
    return each("accepted all denied pre rejected unaccepted", " ", before)
  each(choices[option], ",", before)
}

function operand_words() {
  if (program == "salt") {
    if (operands == 0) return targets()
    if (operands == 1) return functions(offered(), upto_last(","))
    return keywords(offered(), 1)
  }
  if (program == "salt-call") {
    if (operands == 0) return functions(ENVIRON["OWN"] "/functions", "")
    return keywords(ENVIRON["OWN"] "/functions", 0)
  }
  if (program == "salt-run") {
    if (operands == 0) return functions(ENVIRON["OWN"] "/runners", "")
    if (operands == 1 && operand[1] ~ /^jobs\.(lookup_jid|print_job|list_job|exit_success)$/) return rows("jobs", "")
    return keywords(ENVIRON["OWN"] "/runners", 0)
  }
  if (program != "salt-ts") return
  if (operands == 0) return each("check completion create dev docs pack test types", " ", "")
  if (operands == 1 && operand[1] == "completion") each("bash fish zsh", " ", "")
  if (operands == 1 && operand[1] == "create") rows("kinds", "")
}

# Returns the file with functions of minions or, if there is none, the one with built-in functions.
function offered(    file) {
  file = ENVIRON["KNOWN"] "/functions"
  if (ENVIRON["KNOWN"] == "" || (getline < file) <= 0) file = ENVIRON["OWN"] "/functions"
  close(file)
  return file
}

# Offers functions. Rows: name, names of its parameters.
function functions(file, before,    field) {
  while ((getline < file) > 0) {
    split($0, field, "\t")
    offer(before field[1], "")
  }
}

# Offers `name=` for parameters of a function that were not given yet. `after` is the number of operands before the
# function.
function keywords(file, after,    field, name, n, total, k, known) {
  while ((getline < file) > 0) {
    split($0, field, "\t")
    if (field[1] != operand[after + 1]) continue
    total = split(field[2], name, " ")
    for (n = 1; n <= total; n++) {
      known = 0
      for (k = after + 2; k <= operands; k++) if (index(operand[k], name[n] "=") == 1) known = 1
      if (!known) offer(name[n] "=", "")
    }
    return
  }
}

function targets(    before, text) {
  if ("nodegroup" in given) return rows("nodegroups", "")
  if ("grain" in given || "grain-pcre" in given) return grains("", current)
  if ("list" in given) return keys("minions", upto_last(","))
  if ("compound" in given) {
    before = upto_last(" (")
    text = substr(current, length(before) + 1)
    if (text ~ /^[GP]@/) return grains(before substr(text, 1, 2), substr(text, 3))
    if (text ~ /^N@/) return rows("nodegroups", before "N@")
    return keys("minions", before)
  }
  if ("pcre" in given || "pillar" in given || "pillar-pcre" in given || "ipcidr" in given || "range" in given) return
  keys("minions", "")
}

# Offers keys of grains and, after a colon, their values.
function grains(before, typed,    colon, file, field, seen) {
  file = ENVIRON["KNOWN"] "/grains"
  colon = index(typed, ":")
  if (ENVIRON["KNOWN"] == "") return
  while ((getline < file) > 0) {
    split($0, field, "\t")
    if (colon) {
      if (field[1] == substr(typed, 1, colon - 1)) offer(before field[1] ":" field[2], "")
    } else if (!(field[1] in seen)) {
      seen[field[1]] = 1
      offer(before field[1] ":", "")
    }
  }
}

# Offers ids whose keys are in one of the sections, or in those that options include.
function keys(sections, before,    file, field, seen) {
  if (ENVIRON["KNOWN"] == "") return
  if ("include-accepted" in given) sections = sections " minions"
  if ("include-rejected" in given) sections = sections " minions_rejected"
  if ("include-denied" in given) sections = sections " minions_denied"
  file = ENVIRON["KNOWN"] "/keys"
  while ((getline < file) > 0) {
    split($0, field, "\t")
    if (index(" " sections " ", " " field[1] " ") == 0 || field[2] in seen) continue
    seen[field[2]] = 1
    if (index("," before, "," field[2] ",") == 0) offer(before field[2], "")
  }
}

# Offers all rows of a file: word, description.
function rows(name, before,    file, field) {
  file = (name ~ /^(outputters|returners|executors|kinds)$/ ? ENVIRON["OWN"] : ENVIRON["KNOWN"]) "/" name
  if (file == "/" name) return
  while ((getline < file) > 0) {
    split($0, field, "\t")
    offer(before field[1], field[2])
  }
}

function each(list, separator, before,    part, n, total) {
  total = split(list, part, separator)
  for (n = 1; n <= total; n++) offer(before part[n], "")
}

# Returns the current word up to the last of these characters.
function upto_last(characters,    at) {
  for (at = length(current); at > 0; at--) if (index(characters, substr(current, at, 1))) break
  return substr(current, 1, at)
}

# Prints a completion. Names come from minions, and from senders of keys: none may have a meaning for the shell in
# whose command line it is put.
function offer(text, about) {
  if (substr(text, 1, length(current)) != current) return
  if (substr(text, length(current) + 1) ~ /[]["'`$(){}*?!#&;|<>\\~^]/) return
  print text "\t" about
}
