package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program gives the name under which the test binary is capcli itself.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "capcli")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// agent is a profile that runs.
type agent struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

func start(t *testing.T, name string, args ...string) *agent {
	t.Helper()
	a := &agent{Cmd: exec.Command(name, args...)}
	a.Stdout, a.Stderr = &a.stdout, &a.stderr
	a.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Process.Kill() })
	return a
}

// code waits for the end.
func (a *agent) code() int {
	_ = a.Wait()
	return a.ProcessState.ExitCode()
}

// ended runs a program to its end and demands its exit code.
func ended(t *testing.T, want int, name string, args ...string) *agent {
	t.Helper()
	a := start(t, name, args...)
	if got := a.code(); got != want {
		t.Fatalf("capcli %s: exit %d, want %d\n%s", strings.Join(args, " "), got, want, a.stderr.String())
	}
	return a
}

// written waits until a log in dir holds some ticks.
func written(t *testing.T, dir string) {
	t.Helper()
	for { // until the test as a whole is over time
		logs, _ := filepath.Glob(filepath.Join(dir, ".wal", "*", "*.wal"))
		for _, l := range logs {
			if i, err := os.Stat(l); err == nil && i.Size() > 8<<10 {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// What ends a recording: a signal in order, kill at once; what was seen is there.
func TestProfileIsStopped(t *testing.T) {
	t.Parallel()
	name := program(t)
	for _, c := range []struct {
		signal syscall.Signal
		code   int
		next   string // what the next start says
	}{
		{syscall.SIGTERM, 0, ""},
		{syscall.SIGINT, 0, ""},
		{syscall.SIGKILL, -1, "note: an earlier run ended abruptly: "},
	} {
		dir := filepath.Join(t.TempDir(), "box")
		args := []string{"profile", "--source", "fake", "--every", "100ms", "--host", "a", "--out", dir}
		a := start(t, name, args...)
		written(t, dir)
		if second := ended(t, 1, name, args...); !strings.Contains(second.stderr.String(), "is held by capcli profile, process ") {
			t.Errorf("%v: a second writer is told %q", c.signal, second.stderr.String())
		}
		if err := a.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		if got := a.code(); got != c.code {
			t.Errorf("%v: exit %d, want %d: %s", c.signal, got, c.code, a.stderr.String())
		}
		before := ended(t, 0, name, "profile", "summary", dir, "-o", "json").stdout.String()
		if c.code == 0 {
			ended(t, 0, name, "verify", dir)
		}
		if c.signal == syscall.SIGINT { // the rest is that of SIGTERM
			continue
		}
		again := ended(t, 0, name, append(args, "--every", "1h", "--for", "1ms")...)
		if c.next == "" && strings.Contains(again.stderr.String(), "earlier run") || !strings.Contains(again.stderr.String(), c.next) {
			t.Errorf("%v: the next start says %q, want %q", c.signal, again.stderr.String(), c.next)
		}
		ended(t, 0, name, "verify", dir)
		after := ended(t, 0, name, "profile", "summary", dir, "-o", "json").stdout.String()
		if n, m := ticksOf(t, before), ticksOf(t, after); n < 3 || m != n+1 {
			t.Errorf("%v: %d ticks, and %d after one more", c.signal, n, m)
		}
	}
}

// ticksOf reads the number of ticks in the JSON of a summary.
func ticksOf(t *testing.T, text string) (n int) {
	t.Helper()
	_, rest, _ := strings.Cut(text, `"ticks": `)
	if _, err := fmt.Sscan(rest[:min(12, len(rest))], &n); err != nil && !errors.Is(err, io.EOF) && n == 0 {
		t.Fatalf("no ticks in %.200s", text)
	}
	return n
}

// A disk that is full, or cannot be written: exit 8, and the old data untouched.
func TestProfileOnABadDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=262144"); err != nil {
		t.Skipf("mounting needs more rights: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	name, box := program(t), filepath.Join(dir, "box")
	args := []string{"profile", "--source", "fake", "--host", "a", "--start", "2026-11-16T00:00:00Z", "--speed", "0", "--out", box}
	ended(t, 0, name, append(args, "--for", "1m")...)
	part := []string{"profile", "summary", box, "--to", "2026-11-16T00:01:00Z", "-o", "json"}
	old := ended(t, 0, name, part...).stdout.String()
	args[6] = "2026-11-16T01:00:00Z"
	full := ended(t, 8, name, append(args, "--for", "24h")...)
	for _, want := range []string{"error: cannot write " + box, "no space left", "capcli verify"} {
		if !strings.Contains(full.stderr.String(), want) {
			t.Errorf("full disk: said %q, want %q", full.stderr.String(), want)
		}
	}
	ended(t, 0, name, "verify", box)
	if got := ended(t, 0, name, part...).stdout.String(); got != old {
		t.Errorf("the old data is now\n%s\nand was\n%s", got, old)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if locked := ended(t, 8, name, append(args, "--for", "1m")...); !strings.Contains(locked.stderr.String(), "read-only file system") {
		t.Errorf("read-only disk: said %q", locked.stderr.String())
	}
	if got := ended(t, 0, name, part...).stdout.String(); got != old {
		t.Error("what is on a read-only disk reads otherwise")
	}
}
