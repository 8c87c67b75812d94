package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// openTerminal gives both sides of a pseudo-terminal of 80 columns.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	raw, err := ours.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	if e := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
		if err == nil {
			err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
		}
	}); e != nil || err != nil {
		t.Skipf("no pseudo-terminals here: %v %v", e, err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	return ours, theirs
}

var escapes = regexp.MustCompile("\x1b\\[[?0-9;]*[a-zA-Z]")

// On a terminal top redraws one screen in place, and leaves the terminal as it
// found it when Ctrl-C is typed.
func TestTopRedraws(t *testing.T) {
	t.Parallel()
	name := program(t)
	for _, c := range []struct {
		name, env string
		color     bool
	}{{"plain", "NO_COLOR=1", false}, {"as it is", "X=", true}} {
		ours, theirs := openTerminal(t)
		cmd := exec.Command(name, "profile", "top", "--source", "fake", "--every", "100ms")
		// A program that counts its coverage says on stderr where it has no folder for that.
		cmd.Env = []string{"TERM=xterm", c.env, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + t.TempDir()}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = theirs.Close()
		var seen strings.Builder
		typed := false
		for b := make([]byte, 64<<10); ; {
			n, err := ours.Read(b)
			seen.Write(b[:n])
			if err != nil { // EIO: the program has closed its side
				break
			}
			if !typed && strings.Count(seen.String(), "\x1b[J") >= 4 {
				typed = true
				if _, err := ours.WriteString("\x03"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, seen.String())
		}
		all := seen.String()
		if !strings.HasPrefix(all, "\x1b[?25l\x1b[2J\x1b[H") || !strings.HasSuffix(all, "\x1b[?25h") {
			t.Errorf("%s: begins %.40q and ends %q, want the cursor hidden and shown again", c.name, all, all[max(0, len(all)-40):])
		}
		frames := strings.Split(all, "\x1b[H")[1:]
		if len(frames) < 4 {
			t.Fatalf("%s: %d pictures, want 4", c.name, len(frames))
		}
		for _, f := range frames[:4] {
			lines := strings.Split(f, "\r\n")
			if len(lines) > 24 || !strings.Contains(f, "8 GPUs, busy") {
				t.Errorf("%s: a picture of %d lines: %q", c.name, len(lines), f)
			}
			for _, l := range lines {
				if w := utf8.RuneCountInString(escapes.ReplaceAllString(l, "")); w > 80 {
					t.Errorf("%s: a line of %d columns: %q", c.name, w, l)
				}
			}
		}
		if colored := strings.Contains(all, "m") && regexp.MustCompile("\x1b\\[[0-9;]*m").MatchString(all); colored && !c.color {
			t.Errorf("%s: there is colour: %q", c.name, frames[0])
		}
	}
}
