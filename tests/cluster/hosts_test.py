"""Hosts are apart from one another and from this machine, bounded, and gone when their command is, however it ends."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster.conftest import cluster_words
from limits import scaled

ANYONE = 65534  #: a user without rights
LIMIT_S = scaled(60)


def run(words: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, **options)  # type: ignore[call-overload, no-any-return]


@pytest.fixture(autouse=True)
def unchanged(namespaces: None) -> Iterator[None]:
    """What this machine shows of itself."""

    def seen() -> tuple[object, ...]:
        return (
            sorted(os.listdir("/sys/class/net")),
            Path("/proc/self/mounts").read_text(),
            Path("/etc/hosts").read_text(),
            os.uname().nodename,
            Path("/run/netns").exists() and sorted(os.listdir("/run/netns")),
        )

    before = seen()
    yield
    assert seen() == before


@pytest.fixture
def marked(tmp_path: Path) -> Callable[[], list[int]]:
    """The processes of this test: those that sleep as long as nobody else does."""
    (tmp_path / "sleeper").symlink_to(shutil.which("sleep") or "")
    name = str(tmp_path / "sleeper").encode()

    def marked() -> list[int]:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if name in path.read_bytes():
                    found.append(int(path.parent.name))
        return found

    return marked


def eventually(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + LIMIT_S
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return true()


def test_nodes_are_hosts_of_their_own(agent: str) -> None:
    script = (
        f"touch /dev/shm/mine; sleep 100 & {agent} -x node0 'sleep 100 & hostname; touch /dev/shm/0; echo $TMPDIR';"
        f"{agent} -x node1 'hostname; ls /dev/shm; cat /proc/[0-9]*/comm;"
        f"tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/route | cut -f1-2; pwd'"
    )
    done = run(cluster_words(["sh", "-c", script]))
    assert done.returncode == 0, done.stderr
    first, shared, second, *rest = done.stdout.split()
    assert (first, shared, second) == ("node0", "/dev/shm", "node1")
    assert not {"sleep", "0", "mine"} & set(rest), rest  # others' processes and shared memory
    assert sorted(rest[-5:-3]) == ["eth0", "lo"]
    assert rest[-3:] == ["eth0", "000012C6", os.getcwd()]  # the only way leads to 198.18.0.0


def test_hosts_may_have_one_name(agent: str) -> None:
    done = run(cluster_words(["sh", "-c", f"{agent} node0 hostname; {agent} node1 hostname"], same_hostname=True))
    assert done.stdout.split() == ["node", "node"]


def test_status_and_input_are_passed_on(agent: str) -> None:
    assert run(cluster_words(["sh", "-c", "read word; exit $word"]), input="7\n").returncode == 7
    assert run(cluster_words([agent, "node1", "kill -9 $$"])).returncode == 128 + signal.SIGKILL
    for host in ("node2", "../node1", "elsewhere"):
        done = run(cluster_words([agent, host, "true"]))
        assert (done.returncode, f"no {host} here" in done.stderr) == (255, True)
    done = run(cluster_words(["/no/such/program"]))
    assert (done.returncode, "cannot start" in done.stderr) == (127, True)


@pytest.mark.parametrize("how", ["over", "interrupt", "terminate", "kill", "crash"])
def test_nothing_is_left(agent: str, tmp_path: Path, marked: Callable[[], list[int]], how: str) -> None:
    """Whatever was started: on nodes, by daemons that are nobody's children, by who ignores signals."""
    sleeper = f"trap '' INT TERM HUP; {tmp_path}/sleeper 4321"
    ends = {"over": "", "crash": "kill -SEGV $$"}.get(how, "sleep 100")
    script = f"{agent} node0 \"setsid sh -c '{sleeper}' >/dev/null 2>&1 &\"; ({sleeper}) & {ends}"
    command = subprocess.Popen(cluster_words(["sh", "-c", script]), start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        if how not in ("over", "crash"):
            assert eventually(lambda: len(marked()) >= 2)
            sent = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "kill": signal.SIGKILL}[how]
            command.send_signal(sent)
        status = command.wait(LIMIT_S)
    finally:
        command.kill()
    assert (status == 0) == (how == "over")
    assert eventually(lambda: not marked())


def test_two_at_once_do_not_meet(agent: str) -> None:
    words = cluster_words(["sh", "-c", f"{agent} node0 'echo here >/dev/shm/x; read line; cat /dev/shm/x'"])
    both = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for one in both:
        output, errors = one.communicate("\n", timeout=LIMIT_S)
        assert (one.returncode, output) == (0, "here\n"), errors


def test_time_is_limited() -> None:
    done = run(cluster_words(["sleep", "1000"], limit="300ms"))
    assert done.returncode == 124
    assert "--time-limit" in done.stderr


def test_traffic_is_limited() -> None:
    probe = str(Path(cluster_words(["true"])[0]).with_name("cluster_probe"))
    done = run(cluster_words([probe, "0", "1", str(1 << 40)], traffic="20MiB", counts=True))
    assert done.returncode == 124
    assert "--traffic" in done.stderr
    sent = next(int(line.split()[3]) for line in done.stderr.splitlines() if line.startswith("node0 up"))
    assert 10 << 20 < sent < 200 << 20


@pytest.mark.skipif(os.geteuid() != 0, reason="to try without rights, one must have some")
def test_users_without_rights_have_clusters(agent: str) -> None:
    """In a user namespace. Where only root may open /dev/net/tun, they are told."""
    words = ["setpriv", f"--reuid={ANYONE}", f"--regid={ANYONE}", "--clear-groups"]
    cluster = cluster_words([agent, "node1", "hostname"])
    if not os.access(cluster[0], os.X_OK) or any(folder.stat().st_mode & 5 != 5 for folder in Path(agent).parents):
        pytest.skip("the build folder is for root only")
    device = 'mount -t tmpfs none /dev/net && mknod -m {mode} /dev/net/tun c 10 200 && exec "$@"'
    apart = ["unshare", "--mount", "sh", "-c"]
    done = run([*apart, device.format(mode=666), "sh", *words, *cluster])
    if "make namespaces" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert (done.returncode, done.stdout) == (0, "node1\n"), done.stderr
    done = run([*apart, device.format(mode=600), "sh", *words, *cluster])
    assert done.returncode == 2
    assert "cannot open /dev/net/tun" in done.stderr
