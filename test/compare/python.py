"""Answer calls of functions as a Python minion does: a line of JSON for each line of words.

Run by main.ts with the folder of Python Salt's sources in PYTHONPATH: python.py CONFIG_FOLDER
"""

import json
import logging
import os
import signal
import sys

import salt.config
import salt.executors
import salt.loader
import salt.minion
import salt.utils.args

SECONDS_FOR_A_CALL = 60


class Minion(salt.minion.SMinion):
    """A minion without a master, whose returns are kept instead of sent."""

    connected = False
    _execute_job_function = salt.minion.Minion._execute_job_function

    def gen_modules(self, initial_load=False, context=None):
        if initial_load or not hasattr(self, "functions"):
            super().gen_modules(initial_load=True, context=context)
            self.function_errors = self.functions.pop("_errors", {})

    def run(self, words):
        self.functions.pack["__context__"].clear()
        self.executors.pack["__context__"].clear()
        kept = {}
        self.connected = True
        self._return_pub = kept.update
        self._fire_master = lambda *args, **kwargs: None
        fun, arguments = words[0], words[1:]
        arguments = salt.utils.args.parse_input(arguments)
        job = {"jid": "20260101000000000000", "fun": fun, "arg": arguments, "ret": ""}
        job.update({"tgt": self.opts["id"], "tgt_type": "glob", "user": "root"})
        self.proc_dir = salt.minion.get_proc_dir(self.opts["cachedir"])
        salt.minion.Minion._thread_return(self, self.opts, job)
        return kept


def as_json(value):
    if isinstance(value, bytes):
        return as_received(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    if hasattr(value, "items"):
        return dict(value)
    return str(value)


def as_received(value):
    """Return bytes as a master receives them: as text, if they are UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return f"bytes:{value.hex()}"


def with_text_keys(value):
    if hasattr(value, "items"):
        return {
            key if isinstance(key, str) else json.dumps(key, default=str): with_text_keys(member)
            for key, member in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [with_text_keys(member) for member in value]
    return value


def expire(*_):
    raise TimeoutError("the call took too long")


def main(config_folder):
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)
    opts = salt.config.minion_config(os.path.join(config_folder, "minion"))
    opts["file_client"] = "local"
    opts["local"] = True
    logging.disable(logging.CRITICAL)
    minion = Minion(opts)
    signal.signal(signal.SIGALRM, expire)
    for line in sys.stdin:
        words = json.loads(line)
        signal.alarm(SECONDS_FOR_A_CALL)
        try:
            answer = minion.run(words)
        except BaseException as error:  # pylint: disable=broad-except
            answer = {"return": f"{type(error).__name__}: {error}", "retcode": None, "crashed": True}
        signal.alarm(0)
        fields = ("return", "retcode", "success", "out", "crashed")
        answer = {name: answer[name] for name in fields if name in answer}
        answers.write(json.dumps(with_text_keys(answer), default=as_json) + "\n")
        answers.flush()


main(sys.argv[1])
