"""Stand in for a Docker engine while `calls/docker.txt` is compared: python3 docker-engine.py SOCKET"""

import http.server
import json
import os
import re
import socketserver
import sys
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


def image(tags):
    return {
        "Id": IMAGE_ID,
        "RepoTags": tags,
        "RepoDigests": ["nginx@sha256:" + "5" * 64],
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


def containers(method, parts, query, body):
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
    if parts == ["json"]:
        return 200, [image(TAGS)] if TAGS else []
    if parts == ["create"]:
        raise Refusal(404, f"pull access denied for {query.get('fromImage')}, repository does not exist")
    name = "/".join(part for part in parts if part not in ("json", "history", "tag"))
    full = name if ":" in name else name + ":latest"
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
    return {"containers": containers, "images": images, "networks": networks, "volumes": volumes}[kind](
        method, parts, query, body
    )


class Engine(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(re.sub(r"^/v\d+\.\d+(?=/)", "", url.path))
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"null") if length else None
        query = dict(urllib.parse.parse_qsl(url.query))
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
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = do_PUT = handle_any

    def address_string(self):
        return "local"

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


if os.path.exists(sys.argv[1]):
    os.unlink(sys.argv[1])
Server(sys.argv[1], Engine).serve_forever()
