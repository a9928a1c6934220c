"""Stand in for a Docker engine while `calls/docker.txt` is compared: python3 docker-engine.py SOCKET"""

import base64
import http.server
import io
import json
import os
import re
import socketserver
import stat
import subprocess
import sys
import tarfile
import urllib.parse

IMAGE_ID = "sha256:" + "1" * 64


def container(name, status, number):
    running = status in ("running", "paused")
    return {
        "Id": str(number) * 64,
        "Created": "2026-01-01T00:00:00.123456789Z",
        "Path": "sleep",
        "Args": ["1000"],
        "State": {
            "Status": status,
            "Running": running,
            "Paused": status == "paused",
            "Restarting": False,
            "Pid": 4242 if running else 0,
            "ExitCode": 0 if running else 3,
            "StartedAt": "2026-01-01T00:00:01Z",
            "FinishedAt": "0001-01-01T00:00:00Z",
        },
        "Image": IMAGE_ID,
        "Name": "/" + name,
        "Mounts": [],
        "HostConfig": {"NetworkMode": "bridge", "Binds": None, "Links": None},
        "Config": {
            "Hostname": name,
            "Tty": False,
            "Cmd": ["sleep", "1000"],
            "Env": ["A=1"],
            "Image": "nginx:latest",
            "Labels": {"role": "web"},
        },
        "NetworkSettings": {
            "Ports": {
                "80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "8080"}],
                "443/tcp": None,
            },
            "Networks": {
                "bridge": {"IPAddress": "172.17.0.2", "NetworkID": "a" * 64}
            },
        },
    }


def image(tags, identity=IMAGE_ID):
    return {
        "Id": identity,
        "RepoTags": tags,
        "RepoDigests": ["nginx@sha256:" + "5" * 64] if tags else [],
        "ParentId": "",
        "Created": 1700000000,
        "Size": 1000,
        "VirtualSize": 1000,
        "SharedSize": -1,
        "Labels": None,
        "Containers": -1,
    }


CONTAINERS = {
    "web": container("web", "running", 7),
    "db": container("db", "exited", 8),
    "held": container("held", "paused", 9),
}
TAGS = ["nginx:latest", "nginx:1.25"]
# Images that were loaded; they have no tag.
LOADED = []
LOADED_ID = "sha256:" + "2" * 64
# Commands in containers, which run on this host, by their ids.
EXECS = {}
NETWORKS = {
    "bridge": {
        "Name": "bridge",
        "Id": "a" * 64,
        "Driver": "bridge",
        "Scope": "local",
        "Containers": {},
        "Options": {},
        "Labels": {},
        "IPAM": {"Driver": "default", "Config": [{"Subnet": "172.17.0.0/16"}]},
    }
}
VOLUMES = {
    "data": {
        "Name": "data",
        "Driver": "local",
        "Mountpoint": "/var/lib/docker/volumes/data/_data",
        "Labels": {},
        "Options": {},
        "Scope": "local",
        "CreatedAt": "2026-01-01T00:00:00Z",
    }
}


def network(name, number, **facts):
    NETWORKS[name] = {**NETWORKS["bridge"], "Name": name, "Id": str(number) * 64, **facts}


network("full", "c", Containers={"7" * 64: {"Name": "web", "IPv4Address": "172.18.0.2/16"}}, Options={"mtu": "1"})


class Refusal(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def found(kind, things, name):
    for key, thing in things.items():
        identity = thing.get("Id", key)
        if name == key or (len(name) >= 3 and identity.startswith(name)):
            return key
    raise Refusal(404, f"No such {kind}: {name}" if kind != "network" else f"network {name} not found")


def shown(one):
    state = one["State"]["Status"]
    return {
        "Id": one["Id"],
        "Names": [one["Name"]],
        "Image": "nginx:latest",
        "ImageID": IMAGE_ID,
        "Command": "sleep 1000",
        "Created": 1767225600,
        "Ports": [{"IP": "0.0.0.0", "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"}],
        "Labels": {"role": "web"},
        "State": state,
        "Status": {"running": "Up 2 hours", "paused": "Up 2 hours (Paused)"}.get(state, "Exited (3) 1 hour ago"),
        "HostConfig": {"NetworkMode": "bridge"},
        "NetworkSettings": {"Networks": {}},
        "Mounts": [],
    }


def change(name, action):
    key = found("container", CONTAINERS, name)
    status = CONTAINERS[key]["State"]["Status"]
    after = {
        "start": "running",
        "stop": "exited",
        "kill": "exited",
        "restart": "running",
        "pause": "paused",
        "unpause": "running",
    }[action]
    if action in ("start", "stop") and status == after:
        return 304, None
    if action == "kill" and status == "exited":
        raise Refusal(409, f"Cannot kill container: {name}: Container {CONTAINERS[key]['Id']} is not running")
    number = int(CONTAINERS[key]["Id"][0])
    CONTAINERS[key] = container(key, after, number)
    return 204, None


class Stream(list):
    """Events, one in each line."""


class Told(bytes):
    """Bytes with headers."""

    headers = {}


def prune(kind):
    deleted = {"containers": "ContainersDeleted", "images": "ImagesDeleted", "networks": "NetworksDeleted"}
    deleted.update({"volumes": "VolumesDeleted", "build": "CachesDeleted"})
    return 200, {deleted[kind]: None, "SpaceReclaimed": 0}


def archive(path):
    """Return the file of this host at the path as Docker gives it, with what it says about it."""
    if not os.path.lexists(path):
        raise Refusal(404, f"Could not find the file {path} in container web")
    facts = os.lstat(path)
    kind = (1 << 31 if stat.S_ISDIR(facts.st_mode) else 0) + (1 << 27 if stat.S_ISLNK(facts.st_mode) else 0)
    about = {"name": os.path.basename(path), "size": facts.st_size, "mode": kind + (facts.st_mode & 0o777)}
    about.update({"mtime": "2026-01-01T00:00:00Z", "linkTarget": os.path.realpath(path) if kind == 1 << 27 else ""})
    content = io.BytesIO()
    with tarfile.open(mode="w", fileobj=content) as tar:
        tar.add(path, os.path.basename(path), recursive=False)
    told = Told(content.getvalue())
    told.headers = {"X-Docker-Container-Path-Stat": base64.b64encode(json.dumps(about).encode()).decode()}
    return 200, told


def frames(ended):
    return b"".join(
        bytes([number, 0, 0, 0]) + len(text).to_bytes(4, "big") + text
        for number, text in ((1, ended.stdout), (2, ended.stderr))
        if text
    )


def execs(method, parts, _query, _body):
    one = EXECS[parts[0]]
    if method == "GET":
        return 200, {"ID": parts[0], "Running": False, "ExitCode": one["code"], "Pid": 4343}
    return 200, run(one, b"")


def run(one, given):
    try:
        ended = subprocess.run(one["Cmd"], input=given, capture_output=True, check=False)
    except OSError:
        one["code"] = 127
        return b""
    one["code"] = ended.returncode
    return frames(ended)


def built(query, body):
    if "remote" in query:
        return Stream([{"stream": "Step 1/1 : FROM scratch\n"}, {"errorDetail": {"message": "no"}, "error": "no"}])
    with tarfile.open(fileobj=io.BytesIO(body)) as tar:
        names = ", ".join(sorted(tar.getnames()))
    if query.get("t"):
        TAGS.append(query["t"])
    return Stream(
        [
            {"stream": f"Step 1/1 : {names}\n"},
            {"status": "Pull complete", "id": "l1"},
            {"stream": " ---> Running in 0123456789ab\n"},
            {"stream": "Successfully built 111111111111\n"},
        ]
    )


def containers(method, parts, query, body):
    if parts == ["prune"]:
        return prune("containers")
    if parts == ["json"]:
        every = query.get("all") in ("1", "true", "True")
        return 200, [
            shown(one) for one in CONTAINERS.values() if every or one["State"]["Running"]
        ]
    if parts == ["create"]:
        name = query.get("name", "made")
        if name in CONTAINERS:
            raise Refusal(409, f'Conflict. The container name "/{name}" is already in use.')
        if body["Image"].split(":")[0] != "nginx":
            raise Refusal(404, f"No such image: {body['Image']}")
        CONTAINERS[name] = container(name, "created", 6)
        CONTAINERS[name]["State"]["ExitCode"] = 0
        return 201, {"Id": "6" * 64, "Warnings": None}
    key = found("container", CONTAINERS, parts[0])
    one = CONTAINERS[key]
    if method == "DELETE":
        if one["State"]["Running"] and query.get("force") not in ("1", "true", "True"):
            raise Refusal(409, f"You cannot remove a running container {one['Id']}. Stop the container before attempting removal or force remove")
        del CONTAINERS[key]
        return 204, None
    action = parts[1]
    if action == "json":
        return 200, one
    if action == "export":
        return 200, b"files of a container " * 1000
    if action == "archive":
        return archive(query["path"])
    if action == "exec":
        EXECS[str(len(EXECS))] = {**body, "code": None}
        return 201, {"Id": str(len(EXECS) - 1)}
    if action in ("start", "stop", "kill", "restart", "pause", "unpause"):
        if action == "kill" and query.get("signal") not in (None, "9", "KILL", "SIGKILL"):
            return 204, None
        return change(key, action)
    if action == "rename":
        new = query["name"]
        CONTAINERS[new] = {**CONTAINERS.pop(key), "Name": "/" + new}
        return 204, None
    if action == "top":
        if not one["State"]["Running"]:
            raise Refusal(409, f"Container {one['Id']} is not running")
        return 200, {"Titles": ["PID", "USER", "CMD"], "Processes": [["4242", "root", "sleep 1000"]]}
    if action == "changes":
        return 200, [{"Path": "/etc", "Kind": 0}, {"Path": "/etc/new", "Kind": 1}, {"Path": "/old", "Kind": 2}]
    if action == "logs":
        line = b"hello\n"
        return 200, b"\x01\0\0\0\0\0\0" + bytes([len(line)]) + line
    if action == "wait":
        if one["State"]["Running"]:
            change(key, "stop")
        return 200, {"StatusCode": CONTAINERS[key]["State"]["ExitCode"]}
    raise Refusal(404, "page not found")


def images(method, parts, query, _body):
    if parts == ["prune"]:
        return prune("images")
    if parts == ["json"]:
        return 200, ([image(TAGS)] if TAGS else []) + LOADED
    if parts == ["load"]:
        LOADED.append(image(None, LOADED_ID))
        return 200, Stream([{"stream": "Loaded image"}])
    if parts == ["search"]:
        one = {"name": "debian", "description": "an OS", "is_official": True, "is_automated": False, "star_count": 5}
        return 200, [] if query["term"] == "nosuch" else [one, {**one, "name": "me/debian", "is_official": False}]
    if parts[-1] == "push":
        if query.get("tag") == "denied":
            return 200, Stream([{"errorDetail": {"message": "denied"}, "error": "denied"}])
        return 200, Stream([{"status": "Layer already exists", "id": "l1"}, {"status": "Pushed", "id": "l2"}])
    if parts == ["create"] and "fromSrc" in query:
        return 200, Stream([{"status": "sha256:" + "3" * 64}])
    if parts == ["create"]:
        raise Refusal(404, f"pull access denied for {query.get('fromImage')}, repository does not exist")
    name = "/".join(part for part in parts if part not in ("json", "history", "tag", "get"))
    full = name if ":" in name else name + ":latest"
    if parts[-1] == "get":
        return 200, b"files of an image " * 1000
    if LOADED and name.startswith("sha256:2"):
        if method == "DELETE":
            LOADED.clear()
            return 200, [{"Deleted": LOADED_ID}]
        return (201, None) if parts[-1] == "tag" else (200, image(None, LOADED_ID))
    if full not in TAGS and not (name.startswith("sha256:1") or name.startswith("111")):
        raise Refusal(404, f"No such image: {full}" if parts[-1] == "json" else f"No such image: {name}")
    if method == "DELETE":
        if full in TAGS:
            TAGS.remove(full)
            return 200, [{"Untagged": full}]
        if query.get("force") not in ("1", "true", "True"):
            raise Refusal(409, "conflict: unable to delete 111111111111 (must be forced) - image is referenced in multiple repositories")
        del TAGS[2:]
        return 200, [{"Untagged": name}]
    if parts[-1] == "history":
        return 200, [
            {"Id": IMAGE_ID, "Created": 1700000000, "CreatedBy": "/bin/sh -c #(nop) CMD", "Tags": TAGS, "Size": 0, "Comment": ""},
            {"Id": "<missing>", "Created": 1690000000, "CreatedBy": "/bin/sh -c apt", "Tags": None, "Size": 1000, "Comment": ""},
        ]
    if parts[-1] == "tag":
        TAGS.append(f"{query['repo']}:{query.get('tag') or 'latest'}")
        return 201, None
    return 200, {
        "Id": IMAGE_ID,
        "RepoTags": TAGS,
        "RepoDigests": [],
        "Parent": "",
        "Created": "2023-11-14T22:13:20Z",
        "Size": 1000,
        "Config": {"Cmd": ["nginx"], "Env": None, "Labels": None},
        "Architecture": "amd64",
        "Os": "linux",
    }


def networks(method, parts, _query, body):
    if parts == ["prune"]:
        return prune("networks")
    if parts == []:
        return 200, list(NETWORKS.values())
    if parts == ["create"]:
        if body["Name"] in NETWORKS:
            raise Refusal(409, f"network with name {body['Name']} already exists")
        NETWORKS[body["Name"]] = {**NETWORKS["bridge"], "Name": body["Name"], "Id": "b" * 64}
        return 201, {"Id": "b" * 64, "Warning": ""}
    key = found("network", NETWORKS, parts[0])
    if len(parts) == 2:
        found("container", CONTAINERS, body["Container"])
        return 200, None
    if method == "DELETE":
        del NETWORKS[key]
        return 204, None
    return 200, NETWORKS[key]


def volumes(method, parts, _query, body):
    if parts == ["prune"]:
        return prune("volumes")
    if parts == []:
        return 200, {"Volumes": list(VOLUMES.values()), "Warnings": None}
    if parts == ["create"]:
        name = body["Name"]
        VOLUMES[name] = {**VOLUMES["data"], "Name": name, "Mountpoint": f"/var/lib/docker/volumes/{name}/_data"}
        return 201, VOLUMES[name]
    if parts[0] not in VOLUMES:
        raise Refusal(404, f"get {parts[0]}: no such volume")
    if method == "DELETE":
        del VOLUMES[parts[0]]
        return 204, None
    return 200, VOLUMES[parts[0]]


def answer(method, path, query, body):
    kind, *parts = [part for part in path.split("/") if part]
    if kind == "_ping":
        return 200, b"OK"
    if kind == "version":
        return 200, {
            "Version": "24.0.7",
            "ApiVersion": "1.43",
            "MinAPIVersion": "1.12",
            "GitCommit": "abc",
            "GoVersion": "go1.20",
            "Os": "linux",
            "Arch": "amd64",
            "KernelVersion": "6.1.0",
        }
    if kind == "info":
        return 200, {"Containers": 3, "Images": 1, "Driver": "overlay2", "Name": "host", "NCPU": 2}
    if kind == "build":
        return prune("build") if parts else (200, built(query, body))
    if kind == "auth":
        if body["password"] == "wrong":
            raise Refusal(401, "unauthorized")
        return 200, {"Status": "Login Succeeded", "IdentityToken": ""}
    return {"containers": containers, "exec": execs, "images": images, "networks": networks, "volumes": volumes}[kind](
        method, parts, query, body
    )


class Engine(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(re.sub(r"^/v\d+\.\d+(?=/)", "", url.path))
        body = self.sent()
        if self.headers.get("content-type") == "application/json":
            body = json.loads(body or b"null")
        query = dict(urllib.parse.parse_qsl(url.query))
        if self.headers.get("upgrade"):
            return self.converse(EXECS[path.split("/")[2]])
        try:
            status, value = answer(self.command, path, query, body)
        except Refusal as refusal:
            status, value = refusal.status, {"message": str(refusal)}
        except Exception as error:  # pylint: disable=broad-except
            status, value = 500, {"message": f"{type(error).__name__}: {error}"}
        content = value if isinstance(value, bytes) else b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if value is not None and not isinstance(value, bytes):
            self.send_header("content-type", "application/json")
        for name, text in getattr(value, "headers", {}).items():
            self.send_header(name, text)
        self.send_header("Api-Version", "1.43")
        if isinstance(value, Stream):
            return self.tell(value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        return None

    def tell(self, events):
        """Answer with events, one by one."""
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for line in [json.dumps(event) + "\r\n" for event in events] + [""]:
            self.wfile.write(f"{len(line):x}\r\n{line}\r\n".encode())

    def sent(self):
        """Return what the request sends, which may come in pieces."""
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        pieces = []
        while True:
            piece = self.rfile.read(int(self.rfile.readline(), 16))
            self.rfile.readline()
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)

    def converse(self, one):
        """Run a command with what the connection brings, as it has become a stream."""
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        self.wfile.write(run(one, self.rfile.read() if one.get("AttachStdin") else b""))

    do_GET = do_HEAD = do_POST = do_DELETE = do_PUT = handle_any

    def address_string(self):
        return "local"

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


if os.path.exists(sys.argv[1]):
    os.unlink(sys.argv[1])
Server(sys.argv[1], Engine).serve_forever()
